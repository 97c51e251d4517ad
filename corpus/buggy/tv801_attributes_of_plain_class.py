"""A trainer and a dataset whose methods read misspelt attributes."""
import torch
from torch.utils.data import Dataset


class Trainer:
    def __init__(self, model, optimizer, accumulation_steps=None):
        self.model = model
        self.optimizer = optimizer
        self.accumulation_steps = accumulation_steps

    def train_step(self, index, inputs, targets):
        loss = (self.model(inputs) - targets).square().mean()
        loss.backward()
        if not self.accumulation_steps or index % self.accumulation_step == 0:  # warning: TV801
            self.optimizer.step()
            self.optimizer.zero_grad()
        return loss.item()


class Signals(Dataset):
    def __init__(self, rows):
        self.records = [torch.tensor(row) for row in rows]

    def __len__(self):
        return len(self.record)  # error: TV801

    def __getitem__(self, index):
        return self.records[index]


print(len(Signals([[1.0]])))
