"""Layers that get several inputs and take them."""
import torch
import torch.nn as nn


class Message(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Linear(size, size)

    def forward(self, features, adjacency):
        return adjacency @ self.weight(features)


# Only a class derived from `Sequential` may pass on several inputs.
class Chain(nn.Sequential):
    def forward(self, features, adjacency):
        for layer in self:
            features = layer(features, adjacency) if isinstance(layer, Message) else layer(features)
        return features


class GraphNet(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = Chain(Message(size), nn.ReLU(), Message(size))
        self.pair = nn.Bilinear(size, size, 3)
        self.unpool = nn.MaxUnpool1d(2)
        self.pool = nn.MaxPool1d(2, return_indices=True)

    def forward(self, features, adjacency):
        hidden = self.layers(features, adjacency)
        pooled, indices = self.pool(hidden)
        return self.pair(hidden, self.unpool(pooled, indices, hidden.shape[-1:]))


print(GraphNet(4)(torch.rand(5, 4), torch.eye(5)).shape)
