"""Finds photographs of the same kind of seed: an embedding is trained with pairs of views of each seed."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

KINDS = 12


class SeedViews(Dataset):
    """Two noisy views of each seed."""

    def __init__(self, n=240):
        generator = torch.Generator().manual_seed(1)
        self.prototypes = torch.randn(KINDS, 20, generator=generator)
        self.kinds = torch.arange(n) % KINDS

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        seed = self.prototypes[self.kinds[index]]
        return seed + 0.3 * torch.randn(20), seed + 0.3 * torch.randn(20)


class PairLoss(nn.Module):
    """Each view must find the other view of its seed."""

    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature

    def forward(self, first, second):
        first, second = F.normalize(first, dim=1), F.normalize(second, dim=1)
        logits = first @ second.T / self.temperature
        target = torch.arange(len(logits), device=logits.device)
        return F.cross_entropy(logits, target)


class HardestLoss(nn.Module):
    def __init__(self, margin: float = 0.5, weight=None):
        super().__init__()
        self.margin = margin
        self.weight = weight

    def forward(self, first, second):
        distances = torch.cdist(first, second)
        positive = distances.diagonal()
        others = distances + 1e3 * torch.eye(len(distances), device=distances.device)
        loss = F.relu(positive - others.min(dim=1).values + self.margin).mean()
        return loss if self.weight is None else self.weight * loss


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 8))

    def forward(self, x):
        return self.layers(x)


def train(model, loader, epochs=3):
    pairs, hardest = PairLoss(temperature=0.05), HardestLoss(weight=2.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for first, second in loader:
            optimizer.zero_grad()
            a, b = model(first), model(second)
            loss = pairs(a, b) + hardest(a, b)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.3f}")


class NamedLoss(nn.Module):
    """The constructor itself uses the setting."""

    def __init__(self, reduction="mean", gamma=2.0):
        super().__init__()
        self.reduction = reduction
        self.criterion = nn.CrossEntropyLoss(reduction=reduction)
        self.gamma = gamma

    def forward(self, logits, labels):
        return self.criterion(logits, labels)


def describe(loss):
    """Another function may read the setting."""
    return f"gamma {loss.gamma}"


if __name__ == "__main__":
    torch.manual_seed(0)
    train(Encoder(), DataLoader(SeedViews(), batch_size=24, shuffle=True, drop_last=True))
