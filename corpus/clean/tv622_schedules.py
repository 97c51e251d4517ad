"""Schedules of the right length, or of another on purpose."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(80, 6), torch.arange(80) % 3), batch_size=8, shuffle=True)
EPOCHS = 5


def train(schedule, every_batch=False, watches=False):
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = schedule(optimizer)
    for epoch in range(EPOCHS):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            if every_batch:
                scheduler.step()
        if watches:
            scheduler.step(total / len(loader))
        elif not every_batch:
            scheduler.step()


train(lambda o: lr_scheduler.CosineAnnealingLR(o, EPOCHS))
train(lambda o: lr_scheduler.CosineAnnealingLR(o, EPOCHS * len(loader)), every_batch=True)
train(lambda o: lr_scheduler.CosineAnnealingLR(o, 100))
train(lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, epochs=EPOCHS, steps_per_epoch=len(loader)), every_batch=True)
train(lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=EPOCHS))
train(lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=2), watches=True)
train(lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=2), watches=True)

# One epoch is one cycle: each epoch creates a new scheduler.
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(EPOCHS):
    cycle = lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=len(loader))
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        cycle.step()

# The scheduler makes no more steps than it is configured for.
cycle = lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=12)
steps = 0
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        if steps < 12:
            cycle.step()
            steps += 1

cycle = lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=8)
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    cycle.step()
    if cycle.last_epoch == 8:
        break
