import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Lesions(Dataset):
    """Random images with a square lesion; mask has a channel like the image."""

    def __init__(self, length, size):
        self.length = length
        self.size = size

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        image = torch.rand(1, self.size, self.size)
        mask = torch.zeros(1, self.size, self.size, dtype=torch.long)
        k = i % (self.size // 2)
        mask[:, k : k + 6, k : k + 6] = 1
        image = image + mask
        return {"image": image, "mask": mask}


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, 1, 1), nn.ReLU(True))


class SmallNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(conv(1, 8), conv(8, 16), conv(16, 8))
        self.head = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        return self.head(self.body(x))


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", "-e", type=int, default=1)
    p.add_argument("--batch-size", "-b", type=int, default=4)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--classes", "-c", type=int, default=2)
    return p.parse_args()


def main():
    args = get_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = SmallNet(n_classes=args.classes).to(device=device)
    loader = DataLoader(Lesions(16, args.size), shuffle=True, batch_size=args.batch_size)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        for batch in loader:
            images = batch["image"].to(device=device, dtype=torch.float32)
            true_masks = batch["mask"].squeeze(1).to(device=device, dtype=torch.long)
            masks_pred = net(images)
            loss = criterion(masks_pred, true_masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("loss:", loss.item())


if __name__ == "__main__":
    main()
