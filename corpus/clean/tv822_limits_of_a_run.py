"""A run whose limits may be None, tested before they are used."""
import torch
from torch import nn

torch.manual_seed(0)
bar = None


def advance():
    bar.append(1)


def rates(names):
    return [name + ".rate" for name in names]


class Scale(nn.Module):
    factor = None

    def forward(self, x):
        return x if self.factor is None else x * self.factor


def train(model, batches, most=None, best=None):
    global bar
    bar = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, x in enumerate(batches):
        if most is not None and step >= most:
            break
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if best is None or loss.item() < best:
            best = loss.item()
        print("loss " + str(step))
    return best


model = nn.Sequential(nn.Linear(4, 2), Scale())
print(train(model, torch.rand(3, 5, 4)), rates(["slow", "fast"]))
try:
    len(None)
except TypeError:
    print("no length")
