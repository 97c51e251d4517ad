import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randint(2, (64,))), batch_size=8)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x, y):
        out = self.layer(x)
        return {"class": nn.functional.cross_entropy(out, y)} if self.training else out.argmax(dim=1)


@torch.no_grad()
def validate_epoch(model, loader):
    model.eval()
    correct = 0
    for x, y in loader:
        correct += (model(x).argmax(dim=1) == y).sum().item()
    model.train()
    return correct / len(loader.dataset)


@torch.no_grad()
def validate_and_restore(model, loader):
    correct = 0
    for x, y in loader:
        correct += (model(x).argmax(dim=1) == y).sum().item()
    model.train()
    return correct


@torch.no_grad()
def evaluate_losses(detector, loader):
    # The model returns its losses only in training mode.
    detector.train()
    total = 0.0
    for x, y in loader:
        losses = detector(x, y)
        total += sum(losses.values()).item()
    return total / len(loader)


def train_and_validate(model, loader):
    model.train()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return validate_epoch(model, loader)


for epoch in range(2):
    print(train_and_validate(model, loader), evaluate_losses(Detector(), loader))
model.eval()
print(validate_and_restore(model, loader))
