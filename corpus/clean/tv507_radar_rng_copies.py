"""Random windows of radar sweeps, cut out in the workers."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Augment:
    def __init__(self, low, high):
        self.low = low
        self.high = high

    def __call__(self, sweep, gain):
        return sweep * (self.low + gain * (self.high - self.low))


class Sweeps(Dataset):
    def __init__(self, count, window, seed=0):
        self.sweeps = torch.randn(count, 200)
        self.window = window
        self.augment = Augment(0.8, 1.2)
        self.order = np.random.RandomState(seed).permutation(count)

    def __len__(self):
        return len(self.sweeps)

    def draw(self):
        return int(torch.randint(0, 200 - self.window, ()))

    def __getitem__(self, index):
        start = self.draw()
        window = self.sweeps[self.order[index], start : start + self.window]
        return self.augment(window, torch.rand(()).item()), window.abs().mean()


def main():
    loader = DataLoader(Sweeps(16, 64), batch_size=4, num_workers=2, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for window, level in loader:
            loss = nn.functional.mse_loss(model(window.float()).squeeze(1), level)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
