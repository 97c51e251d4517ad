"""A run whose limits may be None, and a log line that adds a number to a text."""
import torch
from torch import nn

torch.manual_seed(0)


def rates(names):
    return [name + ".rate" for name in names]  # error: TV822


def train(model, batches, most=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, x in enumerate(batches):
        if step >= most:  # error: TV822
            break
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rates_of_group(group):
    return rates([[group]])


def report(losses):
    best = None
    for loss in losses:
        print("loss " + 3)  # error: TV822
    return best


projection = nn.Linear(4, 2, bias=False)
print(projection.weight.shape)


def reset(layer=projection):
    layer.bias.data.zero_()  # warning: TV822


train(projection, torch.rand(3, 5, 4))
