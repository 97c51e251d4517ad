"""Writes in place that no backward minds: the activation keeps a copy of its input, or drops nothing."""

import torch
import torch.nn as nn
import torch.nn.functional as F

layer = nn.Linear(6, 8)
x = torch.randn(4, 6)

for activate in (F.silu, F.mish, F.hardswish, F.relu6, F.hardtanh):
    h = activate(layer(x), inplace=True)
    h += 1.0
    h.sum().backward()

h = F.relu(layer(x), inplace=True)
h = F.dropout(h, 0.5, training=False, inplace=True)
h.sum().backward()

kept = nn.Sequential(nn.Linear(6, 8), nn.ReLU(inplace=True), nn.Dropout(0.0, inplace=True), nn.Linear(8, 2))
kept(x).sum().backward()

dropped = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5, inplace=True), nn.ReLU(inplace=True), nn.Linear(8, 2))
dropped(x).sum().backward()

with torch.no_grad():
    h = F.relu(layer(x), inplace=True)
    h += 1.0
