"""Accents, with a frozen encoder."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

ACCENTS = 3


class Jitter:
    def __init__(self, rng, strength=0.1):
        self.rng = rng
        self.strength = strength

    def __call__(self, frames):
        return frames + self.strength * torch.from_numpy(self.rng.normal(size=(25, 12))).float()


def reseed(worker):
    dataset = torch.utils.data.get_worker_info().dataset
    dataset.transform.rng = np.random.default_rng(torch.initial_seed() + worker)


class Speech(Dataset):
    def __init__(self, count=60, transform=None):
        self.frames = torch.randn(count, 25, 12)
        self.accents = torch.arange(count) % ACCENTS
        self.transform = transform

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        frames = self.frames[i]
        return (self.transform(frames) if self.transform else frames), self.accents[i]


class Recognizer(nn.Module):
    def __init__(self, hidden=10):
        super().__init__()
        self.hidden = hidden
        self.encoder = nn.LSTM(12, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, ACCENTS)

    def forward(self, frames):
        _, (state, _) = self.encoder(frames)
        return self.head(state.transpose(0, 1).reshape(frames.size(0), 2 * self.hidden))


def weighted(logits, accents, weights):
    each = F.cross_entropy(logits, accents, reduction="none")
    kept = [weight * loss for weight, loss in zip(weights, each)]
    return torch.stack(kept).sum()


def loader_of(dataset, balanced):
    sampler = WeightedRandomSampler(torch.ones(len(dataset)), len(dataset)) if balanced else None
    return DataLoader(dataset, batch_size=12, shuffle=sampler is None, sampler=sampler)


def main():
    dataset = Speech(transform=Jitter(np.random.default_rng(3)))
    model = Recognizer()
    model.encoder.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters())
    for frames, accents in DataLoader(dataset, batch_size=12, num_workers=2, worker_init_fn=reseed):
        loss = weighted(model(frames), accents, torch.linspace(0.5, 1.5, 12))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())
    loader_of(dataset, balanced=True)


class Switch(nn.Module):
    """Has a flag of its own by the name of the parameters'."""

    def __init__(self):
        super().__init__()
        self.requires_grad = True
        self.layer = nn.Linear(2, 2)


switch = Switch()
switch.requires_grad = False
for weight in switch.parameters():
    weight.requires_grad = switch.requires_grad


if __name__ == "__main__":
    main()
