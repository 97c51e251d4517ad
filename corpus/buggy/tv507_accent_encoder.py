"""Accents: an encoder that was to be frozen, states of two directions, and a loss of copied numbers."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

ACCENTS = 3


class Jitter:
    def __init__(self, rng, strength=0.1):
        self.rng = rng  # warning: TV507
        self.strength = strength

    def __call__(self, frames):
        return frames + self.strength * torch.from_numpy(self.rng.normal(size=(25, 12))).float()


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
        return self.head(state.view(frames.size(0), 2 * self.hidden))  # warning: TV408


def weighted(logits, accents, weights):
    each = F.cross_entropy(logits, accents, reduction="none")
    kept = [weight * loss for weight, loss in zip(weights, each)]
    return torch.tensor(kept, requires_grad=True).sum()


def loader_of(dataset, balanced):
    sampler = WeightedRandomSampler(torch.ones(len(dataset)), len(dataset)) if balanced else None
    return DataLoader(dataset, batch_size=12, shuffle=True, sampler=sampler)  # error: TV405


def main():
    dataset = Speech(transform=Jitter(np.random.default_rng(3)))
    model = Recognizer()
    model.encoder.requires_grad = False  # error: TV624
    optimizer = torch.optim.Adam(model.parameters())
    for frames, accents in DataLoader(dataset, batch_size=12, num_workers=2):
        loss = weighted(model(frames), accents, torch.linspace(0.5, 1.5, 12))
        optimizer.zero_grad()
        loss.backward()  # error: TV604
        optimizer.step()
    print(loss.item())
    loader_of(dataset, balanced=True)


if __name__ == "__main__":
    main()
