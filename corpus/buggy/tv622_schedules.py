"""Schedules that are as long as something else."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(80, 6), torch.arange(80) % 3), batch_size=8, shuffle=True)
EPOCHS = 5


def train(schedule, every_batch=False):
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = schedule(optimizer)
    for epoch in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            if every_batch:
                scheduler.step()  # warning: TV622
        if not every_batch:
            scheduler.step()  # warning: TV622


train(lambda o: lr_scheduler.CosineAnnealingLR(o, EPOCHS), every_batch=True)
train(lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, epochs=EPOCHS, steps_per_epoch=len(loader)))

model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
cycle = lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=len(loader))
plateau = lr_scheduler.ReduceLROnPlateau(optimizer)
for epoch in range(EPOCHS):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    plateau.step()  # error: TV405
for epoch in range(EPOCHS):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        cycle.step()  # error: TV622
