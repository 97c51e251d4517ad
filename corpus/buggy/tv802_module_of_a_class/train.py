import Gaussian
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        mean, log_sigma = self.layer(x).chunk(2, dim=-1)
        return Gaussian(mean, log_sigma)  # error: TV802


print(Encoder()(torch.rand(3, 8)).sample())
