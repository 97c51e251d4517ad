"""Handlers around a whole run, or for something else, do not make mistakes right."""

import torch
import torch.nn as nn


def run():
    layer = nn.Linear(4, 2)
    return layer(torch.ones(1, 5))  # error: TV401


try:
    run()
except Exception as error:
    print("training failed:", error)

scores = torch.randn(4, 3)
try:
    scores[:, 3].mean()  # error: TV201
except KeyboardInterrupt:
    print("stopped")
