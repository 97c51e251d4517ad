import torch
import torch.nn as nn
import torchvision.models as models
from torch.utils.data import DataLoader, Dataset

config = {
    "classes": ["cardboard", "glass", "metal", "paper", "plastic"],
    "class_weights": [1.0, 0.8, 1.5, 0.9, 1.1],
    "batch_size": 5,
    "lr": 1e-3,
    "steps": 2,
}


class GarbageImages(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return torch.rand(3, 64, 64), i % len(config["classes"])


def build_model(num_classes):
    model = models.mobilenet_v3_small(weights=None)
    in_features = model.classifier[-1].in_features
    model.classifier[-1] = nn.Linear(in_features, num_classes)
    return model


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build_model(len(config["classes"])).to(device)
    weights = torch.tensor(config["class_weights"], device=device)
    criterion = nn.CrossEntropyLoss(weight=weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    loader = DataLoader(GarbageImages(), batch_size=config["batch_size"], shuffle=True)

    model.train()
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        logits = model(images)
        loss = criterion(logits, labels)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


if __name__ == "__main__":
    main()
