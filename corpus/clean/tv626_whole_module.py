"""Modules that are loaded as such, or as weights."""

import os

import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
path = "/tmp/torchvet-clean-whole-module.pt"
torch.save(model, path)
again = torch.load(path, weights_only=False)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "weight": model[0].weight}, path)
state = torch.load(path)
os.remove(path)
