"""Attributes of modules that are set in less common ways."""
import torch
import torch.nn as nn


class Template(nn.Module):
    """Subclasses set `width`."""

    def forward(self, x):
        return x * self.width


class Wide(Template):
    width = 4


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))
        self.add_module("inner", nn.Linear(3, 3))

    def forward(self, x):
        if hasattr(self, "shift"):
            x = x + self.shift
        return self.inner(x) * self.scale


class FromOutside(nn.Module):
    def forward(self, x):
        return x + self.offset


module = FromOutside()
module.offset = 2
print(Wide()(torch.ones(2)), Named()(torch.ones(3)), module(torch.ones(2)))
