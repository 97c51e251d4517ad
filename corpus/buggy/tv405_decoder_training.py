import torch
from torch import nn, optim


class Style:
    def __init__(self, width):
        self.decoder = nn.Sequential(nn.Linear(width, width), nn.ReLU())

    def fit(self, x):
        optimizer = optim.Adam(self.decoder)  # error: TV405
        self.decoder(x).mean().backward()
        optimizer.step()


Style(4).fit(torch.rand(2, 4))
