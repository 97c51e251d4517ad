import torch
from torch import nn


class Up(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(2 * width, width, 3, padding=1)

    def forward(self, x, skip, mask1, mask2, enlarge=True):
        if enlarge:
            x = nn.functional.interpolate(x, scale_factor=2)
        if enlarge:
            mask = nn.functional.interpolate(mask1, scale_factor=2)
        mask = torch.cat((mask, mask2), dim=1)  # warning: TV812
        return self.conv(torch.cat((x, skip), dim=1)) * mask[:, :1]


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.blocks = nn.Linear(2, 2), nn.ModuleList([nn.Bilinear(2, 2, 2)])

    def forward(self, x, c=None):
        if c is not None:
            out = x
            c = self.up(c)
        for block in self.blocks:
            out = block(out, c)  # warning: TV812
        return out


x, mask = torch.rand(1, 3, 4, 4), torch.ones(1, 1, 4, 4)
print(Up(3)(x, torch.rand(1, 3, 8, 8), mask, torch.ones(1, 1, 8, 8)).shape)
print(Flow()(torch.rand(5, 2), torch.rand(5, 2)).shape)
