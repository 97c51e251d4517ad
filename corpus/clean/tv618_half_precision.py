"""Mixed precision: gradients accumulated, two optimizers with one scaler, a scaler that is off."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def accumulated(model, loader, optimizer, scaler):
    for i, (x, y) in enumerate(loader):
        with torch.autocast(DEVICE):
            loss = nn.functional.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE)) / 4
        scaler.scale(loss).backward()
        if (i + 1) % 4 == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def two_optimizers(head, tail, loader, scaler):
    first = torch.optim.SGD(head.parameters(), lr=0.1)
    second = torch.optim.SGD(tail.parameters(), lr=0.1)
    for x, y in loader:
        first.zero_grad()
        second.zero_grad()
        loss = nn.functional.cross_entropy(tail(head(x.to(DEVICE))), y.to(DEVICE))
        scaler.scale(loss).backward()
        for optimizer in (first, second):
            scaler.unscale_(optimizer)
        scaler.step(first)
        scaler.step(second)
        scaler.update()


def switched_off(model, loader, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE))
        scaler.scale(loss).backward()
        scaler.step(optimizer)


def main():
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    loader = DataLoader(data, batch_size=4)
    model = nn.Linear(16, 4).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    accumulated(model, loader, optimizer, torch.amp.GradScaler(DEVICE))
    two_optimizers(nn.Linear(16, 8).to(DEVICE), nn.Linear(8, 4).to(DEVICE), loader, torch.amp.GradScaler(DEVICE))
    switched_off(model, loader, optimizer, torch.amp.GradScaler(DEVICE, enabled=False))


main()
