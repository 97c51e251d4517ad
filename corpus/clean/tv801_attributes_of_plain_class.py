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
print(len(signals), signals[1])
