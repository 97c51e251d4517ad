"""Functions of PyTorch that are given values of another kind than they take."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, width):
    scores = query @ key.transpose(-2, -1)
    return F.softmax(scores / torch.sqrt(width), dim=-1)  # error: TV405


def pooled(features):
    rows = np.asarray(features, dtype=np.float32)
    return torch.mean(rows, dim=0)  # error: TV405


def stacked(rows):
    return torch.stack(map(torch.tensor, rows))  # error: TV405


def activated(x):
    return F.dropout(nn.ReLU(x), 0.1)  # error: TV405


def same(a, b):
    if a == b:  # error: TV405
        return "same"
    return "different"


q = torch.randn(2, 5, 16)
print(pooled([[1.0, 2.0], [3.0, 4.0]]), attention(q, q, 16), activated(q), stacked([[1, 2], [3, 4]]))
print(same(torch.ones(3), torch.ones(3)))
