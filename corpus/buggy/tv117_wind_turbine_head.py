"""Power of a wind turbine from six sensors; the head keeps its last dimension."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, random_split


class Turbine(Dataset):
    def __init__(self, n=32):
        generator = torch.Generator().manual_seed(0)
        self.sensors = torch.rand(n, 6, generator=generator)
        self.power = self.sensors.sum(dim=1).pow(2)

    def __len__(self):
        return len(self.sensors)

    def __getitem__(self, i):
        return self.sensors[i], self.power[i]


class Regressor(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x)


def evaluate(model, loader, metric):
    total = 0.0
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            total += metric(model(x), y).item()  # error: TV117
    return total / len(loader)


train_set, val_set = random_split(Turbine(), [24, 8])
model = Regressor()
huber = nn.SmoothL1Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    model.train()
    for x, y in DataLoader(train_set, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = huber(model(x), y)  # error: TV117
        loss.backward()
        optimizer.step()
    print(epoch, evaluate(model, DataLoader(val_set, batch_size=4), nn.L1Loss()))
