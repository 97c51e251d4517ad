"""A part of the model overrides `train`, and stores a table while the model evaluates."""

import torch
from torch import nn


class Biased(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.biases = nn.Parameter(torch.zeros(width))
        self.register_buffer("order", torch.arange(width), persistent=False)

    @torch.no_grad()
    def train(self, mode=True):
        super().train(mode)
        if mode and hasattr(self, "table"):
            del self.table
        elif not mode:
            self.register_buffer("table", self.biases[self.order], persistent=False)
        return self

    def forward(self, x):
        bias = self.biases[self.order] if self.training else self.table
        return x + bias


class Model(nn.Module):
    def __init__(self, width=4, depth=2):
        super().__init__()
        self.parts = nn.ModuleList([Biased(width) for _ in range(depth)])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


model = Model()
model.eval()
with torch.no_grad():
    print(model(torch.ones(2, 4)))
model.train()
print(model(torch.ones(2, 4)).sum().item())
