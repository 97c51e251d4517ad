# needs: einops
import torch
import torch.nn as nn
from einops import rearrange


class Flatten(nn.Module):
    def forward(self, x):
        return rearrange(x, "b c h -> b (c w)")  # error: TV405


Flatten()(torch.randn(2, 3, 4))
