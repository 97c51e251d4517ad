"""A run that allows the class of its history for a single load."""
import os

import torch
import torch.nn as nn
from torch.serialization import safe_globals


class History:
    def __init__(self):
        self.losses = []


def resume(model, path):
    with safe_globals([History]):
        state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["weights"])
    return state["history"]


path = "/tmp/torchvet-allowed-for-one-load.pt"
model, history = nn.Linear(4, 2), History()
history.losses.append(model(torch.randn(3, 4)).mean().item())
torch.save({"history": history, "weights": model.state_dict()}, path)
print(len(resume(model, path).losses))
os.remove(path)
