"""Frog calls from spectrograms: outputs in training mode that are meant to be."""

import torch
from torch import nn
from torch.nn import functional as F
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
    model.eval()
    right = total = 0
    for images, labels in batches:
        images, labels = images.to(device), labels.to(device)
        predicted = model(images).argmax(dim=1, keepdim=True)
        right += predicted.eq(labels.view_as(predicted)).sum().item()
        total += labels.size(0)
    model.train()
    return right / total


def train(model, optimizer, device):
    losses = []
    for images, labels in loader(32):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        outputs = model(images)
        loss = F.cross_entropy(outputs, labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        with torch.no_grad():
            print((outputs.argmax(1) == labels).float().mean().item())
    return float(sum(losses) / len(losses))


def train_on_pseudo_labels(model, optimizer, device):
    """The labels that the model gives itself are made in training mode, on purpose."""
    for images, labels in loader(32):
        images = images.to(device)
        with torch.no_grad():
            sure, pseudo = model(images).softmax(dim=1).max(dim=1)
            agreement = (pseudo == labels.to(device)).float().mean()
        loss = (F.cross_entropy(model(images), pseudo, reduction="none") * (sure > 0.5)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(float(agreement))


def accumulate(model, optimizer, device):
    """Losses in a list that one backward() uses."""
    window = []
    for images, labels in loader(32):
        window.append(F.cross_entropy(model(images.to(device)), labels.to(device)))
        if len(window) == 2:
            optimizer.zero_grad()
            torch.stack(window).mean().backward()
            optimizer.step()
            window = []


def renew_statistics(model, device):
    model.train()
    with torch.no_grad():
        for images, _ in loader(32):
            model(images.to(device))


def monte_carlo(model, device):
    model.train()
    right = 0
    with torch.no_grad():
        for images, labels in loader(16):
            votes = torch.stack([model(images.to(device)).softmax(1) for _ in range(4)])
            right += (votes.mean(0).argmax(1) == labels.to(device)).sum().item()
    return right


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = FrogNet(5).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        print(epoch, train(model, optimizer, device), accuracy(model, loader(16), device))
    train_on_pseudo_labels(model, optimizer, device)
    accumulate(model, optimizer, device)
    renew_statistics(model, device)
    print(accuracy(model, loader(16), device), monte_carlo(model, device))


main()
