"""Harbour zones in radar images: the raw ids are renumbered, what is no zone is void."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ZONES = [3, 7, 8, 12, 21]
VOID = [-1, 0, 1, 2, 4, 5, 6, 9, 10, 11, *range(13, 21), 22, 23]


class Radar(Dataset):
    def __init__(self, count=12):
        rng = np.random.default_rng(0)
        self.echo = rng.standard_normal((count, 1, 16, 16)).astype(np.float32)
        self.raw = rng.integers(-1, 24, (count, 16, 16))

    def __len__(self):
        return len(self.echo)

    def __getitem__(self, index):
        zone = self.raw[index].copy()
        for raw in VOID:
            zone[zone == raw] = 250
        for new, raw in enumerate(ZONES):
            zone[zone == raw] = new
        return self.echo[index], torch.from_numpy(zone)


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, len(ZONES), 1))
for echo, zone in DataLoader(Radar(), batch_size=4, shuffle=True):
    out = net(echo)
    F.cross_entropy(out, zone, ignore_index=250)
    # The void label is replaced, or its pixels are removed.
    F.cross_entropy(out, torch.where(zone == 250, -100, zone))
    F.cross_entropy(out, zone.masked_fill(zone == 250, -100))
    F.cross_entropy(out, zone.masked_fill(zone > len(ZONES) - 1, 0))
    F.one_hot(torch.where(zone >= len(ZONES), torch.zeros_like(zone), zone), len(ZONES))
    table = torch.from_numpy(np.where(zone.numpy() == 250, 0, zone.numpy()))
    F.one_hot(table, len(ZONES))
    known = zone != 250
    F.cross_entropy(out.permute(0, 2, 3, 1)[known], zone[known])
    # The target is changed in place; the next batch is a new tensor.
    void = zone == 250
    zone[void] = 0
    F.one_hot(zone, len(ZONES)).float().mul_((~void)[..., None])

# A mask that was computed from the values before they changed.
level = torch.randint(0, 4, (64,))
low = level == 0
level += 1
level[low] = 4
F.one_hot(level - 1, 4)
# The placeholder -1 is replaced or shifted before the lookup.
slot = torch.randint(0, 6, (8, 3))
free = torch.rand(8, 3) < 0.3
marked = slot.masked_fill(free, -1)
F.embedding(marked.clamp(min=0), torch.randn(6, 2)) * (marked >= 0)[..., None]
F.embedding(marked + 1, torch.randn(7, 2))
F.embedding(torch.where(marked < 0, 5, marked), torch.randn(6, 2))
F.embedding(marked[marked >= 0], torch.randn(6, 2))
