"""Families of mushrooms, from measurements of the cap and the stem. One family is rare."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

FAMILIES = ["agarics", "boletes", "chanterelles", "morels", "stinkhorns"]
SHARES = torch.tensor([0.3, 0.25, 0.2, 0.17, 0.08])


def find_mushrooms(count, seed):
    generator = torch.Generator().manual_seed(seed)
    families = torch.multinomial(SHARES, count, replacement=True, generator=generator)
    centres = torch.randn(len(FAMILIES), 9, generator=torch.Generator().manual_seed(7))
    sizes = centres[families] + 0.6 * torch.randn(count, 9, generator=generator)
    return TensorDataset(sizes, families)


class PolyLoss(nn.Module):
    """Cross-entropy and the first term of the polynomial expansion (PolyLoss, 2022)."""

    def __init__(self, epsilon=1.0):
        super().__init__()
        self.epsilon = epsilon

    def forward(self, logits, labels):
        ce = F.cross_entropy(logits, labels, reduction="none")
        pt = (F.one_hot(labels) * logits.softmax(dim=-1)).sum(dim=-1)  # warning: TV130
        return (ce + self.epsilon * (1 - pt)).mean()


def soft_f1_loss(logits, targets):
    """One minus the mean F1 score, with probabilities in place of counts."""
    probabilities = logits.softmax(dim=1)
    truth = torch.nn.functional.one_hot(targets.long()).float()  # warning: TV130
    hits = (probabilities * truth).sum(dim=0)
    f1 = 2 * hits / (probabilities.sum(dim=0) + truth.sum(dim=0) + 1e-6)
    return 1 - f1.mean()


class MushroomNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(9, hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, len(FAMILIES)))

    def forward(self, sizes):
        return self.layers(sizes)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, score, batches = 0, 0.0, 0
    for sizes, families in loader:
        logits = model(sizes)
        right += (logits.argmax(dim=1) == families).sum().item()
        score += 1 - soft_f1_loss(logits, families).item()
        batches += 1
    return right / len(loader.dataset), score / batches


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(find_mushrooms(480, seed=0), batch_size=24, shuffle=True)
    # The batches are large here, so each of them holds all families.
    test_loader = DataLoader(find_mushrooms(200, seed=1), batch_size=100)
    model = MushroomNet()
    criterion = PolyLoss(epsilon=1.0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(5):
        model.train()
        total = 0.0
        for sizes, families in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(sizes), families)
            loss.backward()
            optimizer.step()
            total += loss.item()
        accuracy, f1 = evaluate(model, test_loader)
        print(f"epoch {epoch}: loss {total / len(train_loader):.3f}, accuracy {accuracy:.3f}, soft F1 {f1:.3f}")


if __name__ == "__main__":
    main()
