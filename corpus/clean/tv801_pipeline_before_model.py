import torch
import torch.nn as nn


class Solver:
    def __init__(self, model, device):
        self.device = device
        self.model = model.to(device)
        self.pipeline = self.build()

    def build(self, again=None):
        # Only a later call gets here, when the attribute exists.
        if again is not None:
            return self.pipeline
        return nn.Sequential(self.model, nn.Softmax(dim=1))


class Meter:
    def __init__(self, **settings):
        for name in settings:
            self.set(name, settings[name])

    def set(self, name, value):
        object.__setattr__(self, name, value)


class Later:
    """Another file sets `total`."""

    def mean(self, count):
        return self.total / count


solver = Solver(nn.Linear(3, 2), torch.device("cpu"))
print(solver.pipeline(torch.randn(2, 3)), solver.build(again=1) is solver.pipeline, Meter(size=3).size)
