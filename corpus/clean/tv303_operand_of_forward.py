import torch
import torch.nn as nn
import torch.nn.functional as F


class Normalize(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1))
        self.scale = torch.tensor(2.0)

    def forward(self, x):
        # A scalar on the CPU may be mixed with tensors on a GPU.
        return (x - self.mean) * self.scale


class WeightedLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.tensor([0.2, 0.8])

    def forward(self, logits, target):
        return F.cross_entropy(logits, target, weight=self.weight.to(logits.device))
