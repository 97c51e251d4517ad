"""The best weights of all epochs, kept in the ways that work, and state dicts that are meant to be alive."""
import copy
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)
path = os.path.join(tempfile.gettempdir(), "best_of_epochs.pt")


def epoch(model, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def build():
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))


def cloned(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    lowest, best = float("inf"), None
    for _ in range(5):
        loss = epoch(model, optimizer)
        if loss < lowest:
            lowest = loss
            best = model.state_dict()
            best = {name: tensor.detach().clone() for name, tensor in best.items()}
    if best is not None:
        model.load_state_dict(best)


def deep(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    best = copy.deepcopy(model.state_dict())
    best_model = model
    for _ in range(5):
        if epoch(model, optimizer) < 1.0:
            best = copy.deepcopy(model.state_dict())
            best_model = copy.deepcopy(model)
    model.load_state_dict(best)
    return best_model


def saved(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    lowest = float("inf")
    for _ in range(5):
        loss = epoch(model, optimizer)
        if loss < lowest:
            lowest = loss
            best_model = model
            torch.save(best_model.state_dict(), path)
    best = torch.load(path)
    model.load_state_dict(best)


def averaged(model, other):
    """The weights are changed in the dictionary, and so in the model, on purpose."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        epoch(model, optimizer)
        weights = model.state_dict()
        for name, tensor in other.state_dict().items():
            weights[name] = 0.5 * weights[name] + 0.5 * tensor
        model.load_state_dict(weights)


def best_of_several():
    lowest, best_model = float("inf"), None
    for lr in (0.1, 0.01, 0.001):
        model = build()
        loss = epoch(model, torch.optim.Adam(model.parameters(), lr=lr))
        if loss < lowest:
            lowest, best_model = loss, model
    return best_model


def handed_on(model, target):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    live = model.state_dict()
    for _ in range(3):
        epoch(model, optimizer)
        target.load_state_dict(live)


for run in (cloned, deep, saved):
    run(build())
averaged(build(), build())
handed_on(build(), build())
best_of_several()
