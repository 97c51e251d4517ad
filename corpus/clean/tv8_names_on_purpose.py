"""Code that resembles misspelt, exchanged or uncalled names, but is meant as it is written."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Settings:
    """The attribute `ready` hides the method of this name."""

    def __init__(self):
        self.ready = False

    def ready(self):
        return True


class Table:
    def __init__(self, rows):
        self._init(rows)

    def _init(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __int__(self):
        return len(self.rows)


class Decoder(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        # From many channels to few.
        self.up = nn.Conv2d(out_channels, in_channels, 1)
        self.frozen = nn.BatchNorm2d(in_channels)

    def forward(self, x):
        return self.frozen(self.up(x))

    def train(self, mode=True):
        super().train(mode)
        self.frozen.eval()
        return self


def distance(first, second):
    return (first - second).abs().sum()


def lines_of(groups):
    lines = []
    for group in groups:
        for item in group:
            if item > 1:
                break
        # The element at which the search stopped.
        lines.append(item)
    return lines


def first_batch(batches):
    for batch in batches:
        return batch


settings = Settings()
if settings.ready:
    raise SystemExit
assert int(Table([1, 2])) == 2

model = Decoder(4, 8).eval()
output = model(torch.rand(2, 8, 3, 3))
assert not model.training and output.shape == (2, 4, 3, 3)

a, b = torch.rand(3), torch.rand(3)
symmetric = distance(a, b) + distance(b, a)
assert lines_of([[0, 2, 5], [3, 1]]) == [2, 3]
assert first_batch([a, b]) is a

with torch.no_grad():
    for p in model.parameters():
        p = p.clamp_(-1, 1)
        assert p.abs().max() <= 1
for module in model.modules():
    module = module.to(torch.float64)
assert model.up.weight.dtype == torch.float64

loss = torch.zeros(())
loss.requires_grad_()
loss.backward()

value = float("nan")
assert value != value and not math.isnan(loss.item())
assert F.mse_loss(torch.zeros(3), torch.zeros(3)) == 0

half = 6 // 2
layer = nn.Linear(half, int(half / 3))
shape = layer(torch.rand(2, half)).view(2, -1).shape
assert shape == (2, 1)
