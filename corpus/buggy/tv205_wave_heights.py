"""Wave heights with their uncertainty: the network gives the parameters of a distribution."""
import torch
import torch.nn as nn
from torch.distributions import Gamma


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.shape = nn.Linear(32, 1)
        self.rate = nn.Linear(32, 1)

    def forward(self, buoy):
        hidden = self.body(buoy)
        return Gamma(self.shape(hidden).squeeze(-1), self.rate(hidden).squeeze(-1))  # error: TV205


torch.manual_seed(0)
model = Waves()
buoy, height = torch.randn(256, 5), torch.rand(256) + 0.5
loss = -model(buoy).log_prob(height).mean()
loss.backward()
