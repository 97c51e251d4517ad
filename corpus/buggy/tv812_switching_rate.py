import torch
from torch import nn


class Sampler:
    def __init__(self, options):
        self.batch, self.steps = 4, 12
        if options["rate"] is None:
            self.rate = self.batch / (self.batch + self.steps)
        self.model = nn.Linear(3, 2)

    def step(self, x):
        if torch.rand(()) < self.rate:  # warning: TV812
            return self.model(x)
        return self.model(-x)


class Schedule:
    def __init__(self, steps, rate):
        self.steps = steps
        if rate is None:
            self.rate = 1 / steps

    def value(self, step):
        return torch.tensor(step * self.rate)  # warning: TV812


def train(loader, evaluate):
    for x in loader:
        if len(x) > 1:
            metrics, logits = evaluate(x)
        else:
            None, None  # warning: TV812
        print(metrics, logits)


def load(name, test=False):
    if name == "small":
        images = torch.rand(4, 3)  # warning: TV220
        classes = 2
    elif name == "large":
        images = torch.rand(8, 3)
        classes = 10
        if test:
            return images[:2], classes
        else:
            return images, classes


train([torch.rand(2, 3)], lambda x: (x.mean(), x))
sampler = Sampler({"rate": None})
print(load("large")[0].shape, load("small") is None)
sampler.step(torch.rand(2, 3))
