import torch
import torch.nn as nn
import torch.nn.functional as F


class EqualizedConv(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, channels, 3, 3))
        self.scale = (channels * 9) ** -0.5

    def forward(self, x):
        weight = self.weight * self.scale
        x = F.conv2d(x, weight, padding=1)  # warning: TV628


conv = EqualizedConv(4)
losses = torch.zeros(0)
for step in range(3):
    loss = torch.rand(1)
    torch.cat([losses, loss])  # warning: TV210
print(conv(torch.randn(1, 4, 8, 8)), len(losses))
