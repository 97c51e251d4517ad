"""Activations are computed again to save memory, and the first layers get no gradient from it."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)  # warning: TV604
        return x


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8, 3)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.encoder(x))


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8, 2)

    def forward(self, x):
        return self.encoder(x).mean(dim=1)


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, 8), torch.randint(0, 4, (32,)))
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=8):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(model.encoder.layers[0][0].weight.grad)

    other = Regressor()
    for x, y in DataLoader(data, batch_size=8):
        loss = nn.functional.mse_loss(other(x), y.float())
        loss.backward()  # error: TV604


main()
