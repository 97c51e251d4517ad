"""Arguments that fit, in every way that Python has to give them."""
import functools

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes, width=8):
        super().__init__()
        self.lstm = nn.LSTM(4, width, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x, *, scale):
        return self.head(self.lstm(x)[0][:, -1]) * scale


def evaluate(model, batch, *rest, threshold=0.5, **options):
    return (model(batch, scale=1.0) > threshold).sum()


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        kwargs.pop("verbose", None)
        return function(*args, **kwargs)

    return wrapper


@counted
def double(x):
    return x * 2


settings = {"classes": 2, "width": 16}
net, batch = Net(**settings), torch.zeros(2, 3, 4)
print(evaluate(net, batch, 1, 2, threshold=0.1, anything=True), double(batch, verbose=True).shape)
print(torch.flip(batch, [0]).shape, torch.sum(batch, axis=1, keepdims=True).shape)
pair = (2, 16)
print(Net(*pair)(batch, scale=2.0).shape)
try:
    Net()
except TypeError:
    print("classes must be given")
