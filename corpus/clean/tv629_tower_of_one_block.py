import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return x + self.inner(self.norm(x))


class Tower(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        act = nn.ReLU()
        # A module without parameters may be repeated.
        self.heads = nn.Sequential(nn.Linear(width, width), act, nn.Linear(width, width), act)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.heads(x)


tower = Tower(16, 4)
print(tower(torch.randn(2, 16)).shape, sum(p.numel() for p in tower.parameters()))
