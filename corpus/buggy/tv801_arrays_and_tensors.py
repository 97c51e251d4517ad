"""Methods of tensors called on arrays, shapes and numbers, and a misspelt layer."""
import random

import numpy as np
import torch
from torch import nn


def stack_scores():
    scores = np.roll(np.asarray([[1.0, 2.0]], dtype=np.float32), 1)
    return scores.unsqueeze(0)  # error: TV801


def flat():
    joined = torch.cat([torch.zeros(3), torch.ones(3)]).shape
    return joined.view(-1)  # error: TV801


def train():
    model = nn.Linear(3, 2)
    loss = model(torch.zeros(4, 3)).pow(2).mean().item()
    loss.backward()  # error: TV801


def make_head(width=3):
    return nn.Sequential(nn.Linear(width, 2), nn.Indentity())  # error: TV801


random.choice([stack_scores, flat, train, make_head])()
