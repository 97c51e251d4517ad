import torch
from torch import nn, optim


class Style:
    def __init__(self, width):
        self.decoder = nn.Sequential(nn.Linear(width, width), nn.ReLU())

    def fit(self, x):
        optimizer = optim.Adam(self.decoder.parameters())
        self.decoder(x).mean().backward()
        optimizer.step()


Style(4).fit(torch.rand(2, 4))
# Iteration over these gives parameters.
optim.Adam(nn.ParameterList([torch.zeros(3)]))
