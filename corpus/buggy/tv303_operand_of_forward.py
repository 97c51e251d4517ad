import torch
import torch.nn as nn
import torch.nn.functional as F


class Normalize(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)

    def forward(self, x):
        return x - self.mean  # warning: TV303


class WeightedLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.tensor([0.2, 0.8])

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, weight=self.weight)  # warning: TV303
