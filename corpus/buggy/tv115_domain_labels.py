"""Labels of two domains behind a gradient reversal, with batches of the second domain without end."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.scale * grad, None


def endless(loader):
    while True:
        yield from loader


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(8, 16)
        self.domain = nn.Linear(16, 1)

    def forward(self, x, scale):
        return self.domain(Reverse.apply(self.features(x), scale))


source = DataLoader(TensorDataset(torch.rand(40, 8)), batch_size=10)
target = DataLoader(TensorDataset(torch.rand(20, 8)), batch_size=10)
model, loss_fn = Model(), nn.BCEWithLogitsLoss()
for (x,), (y,) in zip(source, endless(target)):
    zeros, ones = torch.full((len(x), 1), 0), torch.full((len(y), 1), 1)
    loss = loss_fn(model(x, 0.5), zeros) + loss_fn(model(y, 0.5), ones)  # error: TV115
    loss.backward()
