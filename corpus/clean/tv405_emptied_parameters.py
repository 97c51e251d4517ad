"""A loop that takes all parameters of a module away ends."""

import torch
from torch import nn


def total(module, names):
    loss = torch.tensor(0.0)
    for i in range(len(names)):
        while bool(module._parameters):
            module._parameters.popitem()
        loss += nn.Linear(3, 2)(torch.ones(3)).sum()
    return loss


total(nn.GRUCell(3, 5), ["a", "b"]).backward()
