"""Blocks that are added to a Sequential one by one, under names made in the loop."""

from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class Dense(nn.Module):
    def __init__(self, width, layers, growth):
        super().__init__()
        self.convs = nn.ModuleList(
            [nn.Conv2d(width + i * growth, growth, kernel_size=3, padding=1) for i in range(layers)]
        )

    def forward(self, x):
        for conv in self.convs:
            x = torch.cat([x, F.relu(conv(x))], dim=1)
        return x


class DenseNet(nn.Module):
    def __init__(self, blocks=(2, 4, 3), growth=8, width=16, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict([("conv0", nn.Conv2d(3, width, kernel_size=3, padding=1)), ("norm0", nn.BatchNorm2d(width))])
        )
        for i, layers in enumerate(blocks):
            self.features.add_module("dense%d" % (i + 1), Dense(width, layers, growth))
            width = width + layers * growth
            if i != len(blocks) - 1:
                self.features.add_module("halve%d" % (i + 1), nn.Conv2d(width, width // 2, kernel_size=1))
                width = width // 2
        self.features.add_module("last", nn.BatchNorm2d(width))
        self.classifier = nn.Linear(width, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean(dim=(2, 3)))


print(DenseNet()(torch.randn(2, 3, 32, 32)).shape)
