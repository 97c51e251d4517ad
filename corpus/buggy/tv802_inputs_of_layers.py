"""Layers that are called with more inputs than they take."""
import torch
import torch.nn as nn


class Message(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Linear(size, size)

    def forward(self, features, adjacency):
        return adjacency @ self.weight(features)


class GraphNet(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.Sequential(Message(size), nn.ReLU(), Message(size))
        self.head = nn.Linear(size, 2)

    def forward(self, features, adjacency):
        return self.head(self.layers(features, adjacency))  # error: TV802


class Scorer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.score = nn.Linear(2 * size, 1)

    def forward(self, first, second):
        return self.score(first, second)  # error: TV802


GraphNet(4)(torch.rand(5, 4), torch.eye(5))
