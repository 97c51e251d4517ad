import torch
from torch import nn


class Codes(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(width, 8)
        self.decoder = nn.Linear(8, width)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class QuantisedCodes(Codes):
    def __init__(self, width, levels):
        super().__init__(width)
        self.levels = levels

    def forward(self, x):
        return super().forward(torch.round(x * self.levels) / self.levels)


print(QuantisedCodes(16, 4)(torch.rand(2, 16)).shape)
