"""What is done now and then: steps that a guard skips, micro-batches, validation every so many batches."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 6), torch.arange(96) % 3), batch_size=8, shuffle=True)


def build():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))


def never_cleared(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        if not torch.isfinite(loss):
            continue
        loss.backward()  # error: TV601
        optimizer.step()


def guarded(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()  # error: TV601
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isnan(norm) or torch.isinf(norm):
            print("skipped")
        else:
            optimizer.step()


def accumulated(model, parts=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()  # error: TV602
        loss = F.cross_entropy(model(x), y) / parts
        loss.backward()
        if (i + 1) % parts == 0 or i + 1 == len(loader):
            optimizer.step()


def score(model):
    model.eval()  # error: TV610
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)


def validated(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train()
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (i + 1) % 5 == 0:
            print(i, score(model))


def scaled(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu")
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)  # error: TV618
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not math.isfinite(norm):
            continue
        scaler.step(optimizer)
        scaler.update()


for run in (never_cleared, guarded, accumulated, validated):
    run(build())
broken = torch.randn(32, 6)
broken[3, 0] = float("inf")
scaled(build(), DataLoader(TensorDataset(broken, torch.arange(32) % 3), batch_size=8))
