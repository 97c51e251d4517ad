"""Functions of PyTorch that are given what they take."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, width):
    scores = query @ key.transpose(-2, -1)
    return F.softmax(scores / math.sqrt(width), dim=-1)


def pooled(features):
    rows = np.asarray(features, dtype=np.float32)
    return torch.mean(torch.from_numpy(rows), dim=0)


def stacked(rows):
    return torch.stack(list(map(torch.tensor, rows)))


def activated(x):
    return F.dropout(nn.ReLU()(x), 0.1)


def same(a, b):
    if (a == b).all():
        return "same"
    return "different"


q = torch.randn(2, 5, 16)
print(attention(q, q, 16).shape, pooled([[1.0, 2.0], [3.0, 4.0]]), stacked([[1, 2], [3, 4]]), activated(q).shape)
print(same(torch.ones(3), torch.ones(3)), torch.ones(1) if torch.tensor([1]) else None)
