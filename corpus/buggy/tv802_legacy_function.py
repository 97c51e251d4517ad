import torch
import torch.nn as nn
from torch.autograd import Function


class Detect(Function):
    def __init__(self, threshold):
        self.threshold = threshold

    def forward(self, scores):
        return scores > self.threshold


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.detect = Detect(0.5)

    def forward(self, x, phase="test"):
        scores = self.layer(x).sigmoid()
        if phase == "test":
            scores = self.detect(scores)  # error: TV802
        return scores


print(Detector()(torch.randn(3, 4)))
