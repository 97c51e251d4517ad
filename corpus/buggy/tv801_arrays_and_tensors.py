"""Methods of tensors called on arrays, shapes and numbers, and a misspelt layer."""
import numpy as np
import torch
from torch import nn


def stack_scores(rows):
    scores = np.roll(np.asarray(rows, dtype=np.float32), 1)
    return scores.unsqueeze(0)  # error: TV801


def flat(a, b):
    joined = torch.cat([a, b]).shape
    return joined.view(-1)  # error: TV801


def train(model, x):
    loss = model(x).pow(2).mean().item()
    loss.backward()  # error: TV801


def make_head(width):
    return nn.Sequential(nn.Linear(width, 2), nn.Indentity())  # error: TV801


model = nn.Linear(3, 2)
for job in [
    lambda: stack_scores([[1.0, 2.0]]),
    lambda: flat(torch.zeros(3), torch.ones(3)),
    lambda: train(model, torch.zeros(4, 3)),
    lambda: make_head(3),
]:
    try:
        job()
    except AttributeError as missing:
        print(missing)
