import torch
import torch.nn as nn
from torchvision.models import resnet18

stem = nn.Conv2d(3, 16, 3)
stem.in_channels = nn.Conv2d(4, 16, 3)  # error: TV411

layers = list(resnet18().children())
layers[0].in_channels = nn.Conv2d(1, 64, kernel_size=7)  # error: TV411

grey = nn.Conv2d(3, 16, 3)
grey.in_channels = 1  # error: TV411
print(grey(torch.randn(2, 3, 8, 8)).shape)
