"""Families of mushrooms, from measurements of the cap and the stem. One family is rare."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

FAMILIES = ["agarics", "boletes", "chanterelles", "morels", "stinkhorns"]
SHARES = torch.tensor([0.3, 0.25, 0.2, 0.17, 0.08])
SOILS = 4


class Mushrooms(Dataset):
    """The soils are encoded for the whole dataset, which contains all of them."""

    def __init__(self, sizes, soil_labels, families):
        self.features = torch.cat([sizes, F.one_hot(soil_labels).float()], dim=1)
        self.families = families

    def __len__(self):
        return len(self.families)

    def __getitem__(self, index):
        return self.features[index], self.families[index]


def shares_of(labels):
    """The share of each family in the whole dataset."""
    return F.one_hot(labels).float().mean(dim=0)


def find_mushrooms(count, seed):
    generator = torch.Generator().manual_seed(seed)
    families = torch.multinomial(SHARES, count, replacement=True, generator=generator)
    centres = torch.randn(len(FAMILIES), 9, generator=torch.Generator().manual_seed(7))
    sizes = centres[families] + 0.6 * torch.randn(count, 9, generator=generator)
    return Mushrooms(sizes, torch.arange(count) % SOILS, families)


class PolyLoss(nn.Module):
    """Cross-entropy and the first term of the polynomial expansion (PolyLoss, 2022)."""

    def __init__(self, epsilon=1.0):
        super().__init__()
        self.epsilon = epsilon

    def forward(self, logits, labels):
        ce = F.cross_entropy(logits, labels, reduction="none")
        pt = (F.one_hot(labels, logits.shape[-1]) * logits.softmax(dim=-1)).sum(dim=-1)
        return (ce + self.epsilon * (1 - pt)).mean()


class SmoothedLoss(nn.Module):
    """Labels of 0.9 and 0.025, made by a method of this class that also is called `one_hot`."""

    def one_hot(self, labels):
        return torch.eye(len(FAMILIES), device=labels.device)[labels]

    def forward(self, logits, labels):
        soft = 0.9 * self.one_hot(labels) + 0.1 * (1 - self.one_hot(labels)) / (len(FAMILIES) - 1)
        return -(soft * logits.log_softmax(dim=1)).sum(dim=1).mean()


class MeanOfFamily(nn.Module):
    """The encoding of all families, which does not depend on a batch."""

    def __init__(self):
        super().__init__()
        families = torch.arange(len(FAMILIES))
        self.register_buffer("rows", F.one_hot(families).float())

    def forward(self, probabilities, labels):
        chosen = self.rows[labels]
        return (probabilities * chosen).sum(dim=0) / chosen.sum(dim=0).clamp(min=1)


def soft_f1_loss(logits, targets):
    """One minus the mean F1 score, with probabilities in place of counts."""
    probabilities = logits.softmax(dim=1)
    truth = torch.nn.functional.one_hot(targets.long(), num_classes=len(FAMILIES)).float()
    hits = (probabilities * truth).sum(dim=0)
    f1 = 2 * hits / (probabilities.sum(dim=0) + truth.sum(dim=0) + 1e-6)
    return 1 - f1.mean()


class MushroomNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(9 + SOILS, hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, len(FAMILIES))
        )

    def forward(self, features):
        return self.layers(features)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, score, batches = 0, 0.0, 0
    for features, families in loader:
        logits = model(features)
        right += (logits.argmax(dim=1) == families).sum().item()
        score += 1 - soft_f1_loss(logits, families).item()
        batches += 1
    return right / len(loader.dataset), score / batches


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(find_mushrooms(480, seed=0), batch_size=24, shuffle=True)
    test_loader = DataLoader(find_mushrooms(200, seed=1), batch_size=20)
    print("shares:", shares_of(train_loader.dataset.families).tolist())
    mean_of_family = MeanOfFamily()
    for criterion in (PolyLoss(epsilon=1.0), SmoothedLoss(), soft_f1_loss):
        model = MushroomNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
        for epoch in range(5):
            model.train()
            for features, families in train_loader:
                optimizer.zero_grad()
                logits = model(features)
                loss = criterion(logits, families)
                loss.backward()
                optimizer.step()
        sure = mean_of_family(logits.detach().softmax(dim=1), families)
        accuracy, f1 = evaluate(model, test_loader)
        print(f"accuracy {accuracy:.3f}, soft F1 {f1:.3f}, most certain family: {FAMILIES[sure.argmax().item()]}")


if __name__ == "__main__":
    main()
