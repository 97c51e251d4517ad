import torch
from torch import nn

net = nn.Linear(4, 2)


def curves(outputs):
    return [output.detach().cpu.numpy() for output in outputs]  # warning: TV804


def embed(batch):
    return net(batch.float().contiguous)  # warning: TV804


def host(values):
    values = values.cpu  # warning: TV804
    return values


print(host(net(torch.zeros(3, 4))))


def follow(target, source, rate):
    for old, new in zip(target.parameters(), source.parameters()):
        old.data.copy = rate * new + (1 - rate) * old  # warning: TV804


follow(nn.Linear(4, 2), net, 0.1)
