"""A model that keeps its training inputs beside its parameters, and moves them itself."""

import torch
import torch.nn as nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Exact(nn.Module):
    def __init__(self, inputs, targets):
        super().__init__()
        self.inputs = (inputs,)
        self.targets = targets
        self.scale = nn.Parameter(torch.ones(1))

    def _apply(self, fn):
        self.inputs = tuple(fn(x) for x in self.inputs)
        self.targets = fn(self.targets)
        return super()._apply(fn)

    def forward(self, x):
        distance = (x - self.inputs[0]).pow(2)
        if all(torch.equal(a, b) for a, b in zip(self.inputs, (x,))):
            distance = distance + 1e-6
        return (-distance / self.scale).exp() * self.targets


train_x = torch.linspace(0, 1, 100)
train_y = torch.sin(train_x * 6.28)
model = Exact(train_x, train_y).to(device)
print(model(train_x.to(device)).mean())
