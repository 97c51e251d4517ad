import torch.nn as nn


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)

    def forward(self, x):
        return self.conv(x).relu()


class Encoder(nn.Module):
    def __init__(self, channels, depth=3):
        super().__init__()
        self.blocks = []  # warning: TV304
        for level in range(depth):
            self.blocks.append(Block(channels * 2**level, channels * 2 ** (level + 1)))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Towers(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.towers = tuple(nn.Linear(width, width) for _ in range(2))  # warning: TV304

    def forward(self, x):
        return sum(tower(x) for tower in self.towers)
