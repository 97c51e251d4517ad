"""Riders of a bus line per stop: some counters were broken, and wrote -1."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

MISSING = -1.0


class Stops(Dataset):
    def __init__(self, count=128):
        rng = np.random.default_rng(3)
        self.features = rng.normal(size=(count, 6)).astype(np.float32)
        self.riders = rng.poisson(4, size=count)
        self.broken = rng.random(count) < 0.1

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        riders = MISSING if self.broken[index] else float(self.riders[index])
        return torch.from_numpy(self.features[index]), torch.tensor(riders)


torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.PoissonNLLLoss()
for features, riders in DataLoader(Stops(), batch_size=16, shuffle=True):
    log_rate = model(features).squeeze(1)
    counted = torch.where(riders > 30, torch.full_like(riders, MISSING), torch.ones_like(riders))
    loss = criterion(log_rate, riders)  # error: TV123 (missed)
    loss = loss + criterion(log_rate, counted)  # warning: TV123
    loss = loss + F.poisson_nll_loss(log_rate, torch.full((len(riders),), MISSING))  # error: TV123
    loss = loss + F.poisson_nll_loss(log_rate.exp(), torch.full_like(riders, MISSING), log_input=False, reduction="sum")  # error: TV123
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
few = torch.tensor([2.0, MISSING, 0.0])
print(criterion(model(torch.randn(3, 6)).squeeze(1), few))  # error: TV123
