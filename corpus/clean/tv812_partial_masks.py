import torch
from torch import nn


class Up(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(2 * width, width, 3, padding=1)

    def forward(self, x, skip, mask1, mask2, enlarge=True):
        mask = mask1
        if enlarge:
            x = nn.functional.interpolate(x, scale_factor=2)
            mask = nn.functional.interpolate(mask1, scale_factor=2)
        mask = torch.cat((mask, mask2), dim=1)
        return self.conv(torch.cat((x, skip), dim=1)) * mask[:, :1]


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.blocks = nn.Linear(2, 2), nn.ModuleList([nn.Bilinear(2, 2, 2)])

    def forward(self, x, c=None):
        out = x
        if c is not None:
            c = self.up(c)
        for block in self.blocks:
            out = block(out, c)
        return out


def latest(batches, keep):
    """In the first round nothing reads `last`, and a later round has set it."""
    for number, batch in enumerate(batches):
        if keep:
            last = batch
        if number > 0:
            print(last.shape)
        last = batch
    return last


def fetched(message, trailers, check):
    if not trailers:
        result = message
    trailers = message
    check.raise_for_status(trailers)
    return result


def replaced(rows, flag, other):
    if flag:
        result = rows + 1
    result = rows
    if other:
        total = rows.sum()
    for row in rows:
        total = row
        print(total)
    return result


x, mask = torch.rand(1, 3, 4, 4), torch.ones(1, 1, 4, 4)
print(Up(3)(x, torch.rand(1, 3, 8, 8), mask, torch.ones(1, 1, 8, 8)).shape)
print(Flow()(torch.rand(5, 2), torch.rand(5, 2)).shape, replaced(torch.zeros(2), False, False))
print(latest([torch.zeros(1), torch.zeros(2)], False).shape)
