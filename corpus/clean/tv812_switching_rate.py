import torch
from torch import nn


class Sampler:
    def __init__(self, options):
        self.batch, self.steps = 4, 12
        self.rate = options["rate"]
        if options["rate"] is None:
            self.rate = self.batch / (self.batch + self.steps)
        if options["seed"] is None:
            self.seed = 3
        else:
            self.seed = options["seed"]
        self.model = nn.Linear(3, 2)

    def step(self, x):
        if torch.rand(()) < self.rate + self.seed:
            return self.model(x)
        return self.model(-x)


class Schedule:
    def __init__(self, steps, rate):
        self.steps = steps
        if rate is None:
            self.rate = 1 / steps
        self.given = rate

    def value(self, step):
        return torch.tensor(step * (self.rate if self.given is None else self.given))


def train(loader, evaluate):
    for x in loader:
        if len(x) > 1:
            metrics, logits = evaluate(x)
        else:
            metrics, logits = None, None
        print(metrics, logits)


def load(name, test=False):
    if name == "small":
        images = torch.rand(4, 3)
        classes = 2
    elif name == "large":
        images = torch.rand(8, 3)
        classes = 10
    if test:
        return images[:2], classes
    else:
        return images, classes


class Log:
    """A branch that reads what it sets, and one that returns: both are meant."""

    def __init__(self):
        self.last = None

    def add(self, value, keep):
        if keep:
            rounded = round(value, 2)
            self.last = rounded
        else:
            rounded = round(value, 4)
            return rounded


train([torch.rand(2, 3)], lambda x: (x.mean(), x))
sampler = Sampler({"rate": 0.5, "seed": None})
print(load("large")[0].shape, load("small")[1], Log().add(0.123, True))
sampler.step(torch.rand(2, 3))
