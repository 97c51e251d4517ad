import torch
from torch import nn


class Regions(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.score = nn.Linear(channels, 1)

    def forward(self, maps):
        n, c, h, w = maps.shape
        regions = maps.view(n, c, w * h).transpose(1, 2)
        return (self.score(regions).softmax(1) * regions).sum(1)


print(Regions(6)(torch.rand(2, 6, 4, 5)).shape)
