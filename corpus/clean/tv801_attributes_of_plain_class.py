"""Classes whose attributes are set elsewhere, or only by classes derived from them."""
import torch
from torch.utils.data import Dataset


class Trainer:
    def __init__(self, model):
        self.model = model

    def setup(self):
        raise NotImplementedError

    # A class derived from this one sets the attribute in `setup`.
    def rate(self):
        return self.optimizer.param_groups[0]["lr"]


class Experiment:
    def __init__(self, rate):
        self.rate = rate
        self.prepare()

    def prepare(self):
        pass

    # A class of the user, derived from this one, sets the model in `prepare`.
    def size(self):
        return sum(weight.numel() for weight in self.model.parameters())


class Options:
    def __init__(self, given):
        for name, value in given:
            self.__setattr__(name.lower(), value)

    def scaled(self, x):
        return x * self.scale


class Signals(Dataset):
    length: int

    def __init__(self, rows):
        self.records = [torch.tensor(row) for row in rows]

    # A caller sets it.
    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.records[index]


signals = Signals([[1.0], [2.0]])
signals.length = 2
options = Options([("SCALE", 0.5)])
print(options.scaled(torch.ones(2)))
print(len(signals), signals[1])
