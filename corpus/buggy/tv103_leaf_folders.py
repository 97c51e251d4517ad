"""Leaf disease classifier; labels come from the folder name prefix ("1_rust")."""
import argparse
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

CLASSES = {"1_rust": 0.1, "2_blight": 0.4, "3_healthy": 0.9}


class LeafDataset(Dataset):
    def __init__(self, n_per_class=6, size=32):
        self.samples = []
        for name, tone in CLASSES.items():
            label = int(name.split("_")[0])
            for _ in range(n_per_class):
                self.samples.append((tone, label))
        self.size = size

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, idx):
        tone, label = self.samples[idx]
        img = torch.rand(3, self.size, self.size) * tone
        return img, label


class SmallCNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(32, num_classes)

    def forward(self, x):
        x = self.features(x).flatten(1)
        return self.classifier(x)


def train_one_epoch(model, loader, optimizer, criterion, device):
    model.train()
    running = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)  # error: TV103
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(LeafDataset(), batch_size=args.batch_size, shuffle=True)
    model = SmallCNN(num_classes=len(CLASSES)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, loader, optimizer, criterion, device)
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
