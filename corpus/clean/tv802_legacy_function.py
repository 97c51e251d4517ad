import torch
import torch.nn as nn
from torch.autograd import Function


class Round(Function):
    @staticmethod
    def forward(ctx, scores):
        return scores.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.round = Round.apply

    def forward(self, x, phase="test"):
        scores = self.layer(x).sigmoid()
        if phase == "test":
            scores = self.round(scores)
        return scores


Detector()(torch.randn(3, 4)).sum().backward()
