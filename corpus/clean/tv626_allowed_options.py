"""A run that allows the class of its options before it loads them."""
import argparse
import os

import torch
import torch.nn as nn

options = argparse.Namespace(width=8, rate=0.1)
path = "/tmp/torchvet-allowed-options.pt"
model = nn.Linear(4, options.width)
torch.save({"options": options, "weights": model.state_dict()}, path)

torch.serialization.add_safe_globals([argparse.Namespace])
state = torch.load(path)
model.load_state_dict(state["weights"])
print(state["options"].width)
os.remove(path)
