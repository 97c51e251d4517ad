# Tensors that `forward` creates are on the device of the module, or may be on any device.
import torch
from torch import nn


class NoisyLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.gain = nn.Parameter(torch.ones(width))
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        hidden = self.layer(x)
        hidden = hidden + torch.randn(hidden.shape[0], 1, device=hidden.device)
        hidden = hidden + torch.zeros(1, 1).to(hidden)
        hidden = hidden + torch.zeros(1, 1, device=next(self.parameters()).device)
        hidden = hidden * self.scale.type_as(hidden) + torch.tensor(0.5)
        order = torch.arange(2)
        hidden = hidden[order] + self.gain[order]
        if hidden.is_cuda:
            hidden = hidden + torch.ones(1, 1).cuda()
        return hidden.cpu() + torch.ones(1, 1)

    def describe(self, names):
        return torch.zeros(len(names), 3).sum(dim=1)
