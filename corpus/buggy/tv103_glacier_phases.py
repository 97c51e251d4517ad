"""Melt phases of glaciers from ten sensor channels."""
import os
from contextlib import contextmanager
from enum import Enum

import torch
from torch import nn


class Phase(Enum):
    ACCUMULATION = 0
    STABLE = 2
    MELT = 3


class Pooling(Enum):
    MEAN = "mean"
    LAST = "last"


CHANNELS = int(os.environ.get("GLACIER_CHANNELS", "10"))
POOLING = Pooling(os.getenv("GLACIER_POOLING", "mean"))


@contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was_training)


class PhaseNet(nn.Module):
    def __init__(self, channels, phases):
        super().__init__()
        self.conv = nn.Conv1d(channels, 32, 5, padding=2)
        self.head = nn.Linear(32, phases)

    def forward(self, signal):
        features = torch.relu(self.conv(signal))
        match POOLING:
            case Pooling.MEAN:
                pooled = features.mean(dim=2)
            case Pooling.LAST:
                pooled = features[:, :, -1]
        return self.head(pooled)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = PhaseNet(CHANNELS, len(Phase)).to(device)
optimizer = torch.optim.Adam(model.parameters())
signals = torch.randn(12, CHANNELS, 100)
phases = torch.tensor([Phase.ACCUMULATION.value, Phase.STABLE.value, Phase.MELT.value] * 4)

running = 0.0
for signal, phase in zip(signals.split(4), phases.split(4)):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(signal.to(device)), phase.to(device))  # error: TV103
    loss.backward()
    optimizer.step()
    running += loss.detach()

with evaluating(model) as frozen:
    logits = frozen(signals.to(device))
    correct = (logits.argmax(dim=1) == phases.to(device)).sum().item()
print(running / 3, correct / len(phases))
