"""Early stopping that remembers nothing."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)


class Stopper:
    def __init__(self, patience):
        self.patience, self.waited = patience, 0
        self.lowest = float("inf")
        self.weights = None

    def __call__(self, loss, model):
        if loss < self.lowest:
            self.lowest, self.waited = loss, 0
            self.weights = model.state_dict()  # error: TV621
        else:
            self.waited += 1
        return self.waited > self.patience


def epoch(model, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def stopped(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    stopper = Stopper(patience=2)
    for _ in range(20):
        if stopper(epoch(model, optimizer), model):
            break
    model.load_state_dict(stopper.weights)


def copied_once(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    best = copy.deepcopy(model.state_dict())
    lowest = float("inf")
    for _ in range(5):
        loss = epoch(model, optimizer)
        if loss < lowest:
            lowest, best = loss, dict(model.state_dict())  # error: TV621
    model.load_state_dict(best)


def same_object(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    lowest, best_model = float("inf"), None
    for _ in range(5):
        loss = epoch(model, optimizer)
        if loss < lowest:
            lowest = loss
            best_model = model  # warning: TV621
    return best_model


for run in (stopped, copied_once, same_object):
    run(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1)))
