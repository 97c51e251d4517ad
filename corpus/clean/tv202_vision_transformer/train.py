import torch
from torch import nn

from config import cfg
from vit import ViT


def fake_batch(device):
    images = torch.rand(cfg.batch_size, 3, cfg.image_size, cfg.image_size, device=device)
    labels = torch.randint(cfg.classes, (cfg.batch_size,), device=device)
    return images, labels


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = ViT(cfg).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.05)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    for step in range(3):
        images, labels = fake_batch(device)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
