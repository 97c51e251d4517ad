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
        hidden = self.norm(self.first(minutes))
        return self.last(torch.relu(hidden)).squeeze(1)


torch.manual_seed(0)
model = Late()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for minutes, late in DataLoader(Delays(), batch_size=16, shuffle=True, drop_last=True):
        loss = criterion(model(minutes), late)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())


class Rides(Dataset):
    """Not every round adds a ride, and not all rounds are there."""

    def __init__(self, rides=97, seed=1):
        rng = random.Random(seed)
        self.kept, self.few, self.until, self.gaps = [], [], [], []
        before = None
        for ride in range(rides):
            minutes = rng.gauss(3, 1)
            # There is no ride before the first one, so 97 rides have 96 gaps.
            if before is not None:
                self.gaps.append(torch.full((6,), minutes - before))
            before = minutes
            if minutes < 2.5:
                continue
            self.kept.append(torch.tensor([minutes] * 6))
            if len(self.few) < 32:
                self.few.append(ride)
        for ride in range(rides):
            if len(self.until) > 64:
                break
            minutes = rng.gauss(3, 1)
            self.until.append(torch.tensor([minutes, minutes, 0.0, 0.0, 0.0, 0.0]))
            if ride % 50 == 0:
                print("ride", ride, "of", rides)
                print("of these are kept", len(self.kept), "and the few are", len(self.few))

    def __len__(self):
        return len(self.kept)

    def __getitem__(self, index):
        return self.kept[index]


rides = Rides()
for part in (rides.kept, rides.few, rides.until):
    size = len(part) // 2
    for batch in DataLoader(part, batch_size=size):
        if batch.dim() == 2 and len(batch) > 1:
            model(batch)
for gap in DataLoader(rides.gaps, batch_size=16):
    print(model(gap).shape)
