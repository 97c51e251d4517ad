import torch
from torch import nn

net = nn.Linear(4, 2)


class Layer(nn.Module):
    """An optional activation is a function, and its truth is meant."""

    def __init__(self, activation=None):
        super().__init__()
        self.line = nn.Linear(4, 4)
        self.activation = activation

    def forward(self, x):
        x = self.line(x)
        if self.activation:
            x = self.activation(x)
        return x


def curves(outputs):
    return [output.detach().cpu().numpy() for output in outputs]


def moved(tensors, move):
    return [move(tensor) for tensor in tensors]


print(len(curves([net(torch.zeros(3, 4))])), Layer(torch.tanh)(torch.zeros(1, 4)).shape)
print(moved([torch.zeros(2)], torch.Tensor.cpu))


def follow(target, source, rate):
    for old, new in zip(target.parameters(), source.parameters()):
        old.data.copy_(rate * new + (1 - rate) * old)


follow(nn.Linear(4, 2), nn.Linear(4, 2), 0.1)
