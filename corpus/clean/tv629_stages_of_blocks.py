import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Stages(nn.Module):
    def __init__(self, block, depths):
        super().__init__()
        self.width = 8
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.first = self.stage(block, 16, depths[0])
        self.second = self.stage(block, 32, depths[1])

    def stage(self, block, width, depth):
        layers = [block(self.width, width, stride=2)]
        self.width = width
        for _ in range(1, depth):
            layers.append(block(self.width, width))
        return nn.Sequential(*layers)

    def forward(self, x):
        return self.second(self.first(self.stem(x)))


def build(depths):
    return Stages(Block, depths)
