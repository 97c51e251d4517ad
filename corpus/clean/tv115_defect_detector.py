"""Binary classification of product photos: defect or not."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet18


class Products(Dataset):
    def __init__(self, n=8):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        return torch.rand(3, 64, 64), torch.tensor(idx % 2, dtype=torch.float32)


def train(model, loader, optimizer, device):
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0, device=device))
    model.train()
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels.unsqueeze(1))
        loss.backward()
        optimizer.step()
        print(loss.item())


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = resnet18(weights=None)
    model.fc = nn.Linear(model.fc.in_features, 1)
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    train(model, DataLoader(Products(), batch_size=4, shuffle=True), optimizer, device)


if __name__ == "__main__":
    main()
