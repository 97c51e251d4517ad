"""Plain lists whose modules are moved and trained by hand, or not at all."""

import torch
import torch.nn as nn


class ByHand(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.parts = [nn.Linear(8, 8).to(device) for _ in range(3)]

    def forward(self, x):
        for part in self.parts:
            part.to(x.device)
            x = part(x)
        return x


class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = [nn.Linear(8, 8).requires_grad_(False)]

    def forward(self, x):
        self.network[0].to(x.device)
        return self.network[0](x)


model = ByHand("cpu")
optimizer = torch.optim.SGD([p for part in model.parts for p in part.parameters()], lr=0.1)
optimizer.zero_grad()
loss = model(torch.randn(2, 8)).sum() + Perceptual()(torch.randn(2, 8)).sum()
loss.backward()
optimizer.step()
