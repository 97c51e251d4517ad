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
        block = Block(width)
        self.blocks = nn.ModuleList([block for _ in range(depth)])  # warning: TV629
        head = nn.Linear(width, width)
        self.heads = nn.Sequential(*[head] * 3)  # warning: TV629

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.heads(x)


tower = Tower(16, 4)
print(tower(torch.randn(2, 16)).shape, sum(p.numel() for p in tower.parameters()))
