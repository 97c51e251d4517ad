"""Sizes that are set together with the weight, or that the weight has."""

import torch
import torch.nn as nn

depthwise = nn.Conv2d(8, 8, 3, groups=8)
depthwise.in_channels = 8
print(depthwise(torch.randn(1, 8, 8, 8)).shape)

stem = nn.Conv2d(3, 16, 3)
stem.in_channels = 1
stem.weight = nn.Parameter(stem.weight.sum(1, keepdim=True))
print(stem(torch.randn(1, 1, 8, 8)).shape)
