"""Delays of trams: is a line late? The data set builds its samples itself."""
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Delays(Dataset):
    def __init__(self, days=97, seed=0):
        rng = random.Random(seed)
        self.samples = []
        for day in range(days):
            rain = rng.random() < 0.3
            if rain:
                minutes = [rng.gauss(6, 2) for _ in range(5)]
                late = 1.0
            else:
                minutes = [rng.gauss(2, 1) for _ in range(5)]
                late = float(rng.random() < 0.1)
            weekend = float(day % 7 > 4)
            self.samples.append((torch.tensor(minutes + [weekend]), late))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        minutes, late = self.samples[index]
        return minutes, torch.tensor(late)


class Late(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.last = nn.Linear(16, 1)

    def forward(self, minutes):
        hidden = self.norm(self.first(minutes))  # error: TV406
        return self.last(torch.relu(hidden)).squeeze(1)


torch.manual_seed(0)
model = Late()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for minutes, late in DataLoader(Delays(), batch_size=16, shuffle=True):
        loss = criterion(model(minutes), late)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
