"""Frog calls from spectrograms; nobody tells the network that it is being tested."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class FrogNet(nn.Module):
    def __init__(self, species):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()
        )
        self.dropout = nn.Dropout(0.4)
        self.head = nn.Linear(8 * 16, species)

    def forward(self, x):
        return self.head(self.dropout(self.features(x)))


def loader(n):
    return DataLoader(TensorDataset(torch.randn(n, 1, 16, 16), torch.randint(0, 5, (n,))), batch_size=8)


@torch.no_grad()
def accuracy(model, batches, device):
    right = total = 0
    for images, labels in batches:
        images, labels = images.to(device), labels.to(device)
        predicted = model(images).argmax(dim=1, keepdim=True)  # warning: TV619
        right += predicted.eq(labels.view_as(predicted)).sum().item()
        total += labels.size(0)
    return right / total


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = FrogNet(5).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss()
    losses = []
    for epoch in range(2):
        model.train()
        for images, labels in loader(32):
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss)  # warning: TV603
        print(epoch, accuracy(model, loader(16), device))
    print(float(sum(losses) / len(losses)))

    restored = FrogNet(5).to(device)
    restored.load_state_dict(model.state_dict())
    total = 0.0
    with torch.inference_mode():
        for images, labels in loader(16):
            total += criterion(restored(images.to(device)), labels.to(device)).item()  # warning: TV619
    print(total)


main()
