"""Calls with arguments that the function does not take, or without one that it needs."""
import random

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes, width=8):
        super().__init__()
        self.lstm = nn.LSTM(4, width, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x, *, scale):
        return self.head(self.lstm(x)[0][:, -1]) * scale


def evaluate(model, batch, threshold=0.5):
    return (model(batch, scale=1.0) > threshold).sum()


def wide():
    return Net(2, widht=16)  # error: TV802


def nothing():
    return Net()  # error: TV802


def backwards():
    return torch.flip(torch.zeros(2, 3))  # error: TV802


def both_ways():
    return nn.LSTM(4, 8, bidirectiona=True)  # error: TV802


def too_many():
    return evaluate(Net(2), torch.zeros(2, 3, 4), 0.5, True)  # error: TV802


def size_as_values():
    return torch.tensor(64, 3)  # error: TV802


random.choice([wide, nothing, backwards, both_ways, too_many, size_as_values])()
