"""Attributes that exist: of arrays, of tensors that the program extends, and of what is asked for first."""
import numpy as np
import torch
from torch import nn


def stack_scores(rows):
    scores = np.roll(np.asarray(rows, dtype=np.float32), 1)
    return torch.from_numpy(scores).unsqueeze(0)


def train(model, x):
    loss = model(x).pow(2).mean()
    loss.backward()
    return loss.item()


def mark(parameter):
    parameter.is_bias = True
    return parameter.is_bias


def compiled(model):
    if hasattr(torch, "compile_for_speed"):
        return torch.compile_for_speed(model)
    return model


def seed(n):
    try:
        torch.set_seed(n)
    except AttributeError:
        torch.manual_seed(n)


model = nn.Linear(3, 2)
seed(0)
print(stack_scores([[1.0, 2.0]]).shape, train(model, torch.zeros(4, 3)), mark(model.bias))
values, indices = torch.zeros(2, 3).max(dim=1)
print(torch.zeros(2, 3).max(dim=1).values, compiled(model))
