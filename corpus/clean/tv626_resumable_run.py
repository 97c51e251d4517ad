"""Runs that load what they save: plain values, tensors, and what they trust."""
import argparse
import os

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=8)
parser.add_argument("--name", default="/tmp/torchvet-resumable-run")
args = parser.parse_args()


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(4, width)

    def forward(self, x):
        return self.out(x)


model = Net(args.width)
losses = np.array([model(torch.randn(2, 4)).mean().item() for _ in range(3)])

torch.save({"weights": model.state_dict(), "options": vars(args), "losses": losses.tolist()}, args.name + ".pt")
state = torch.load(args.name + ".pt", map_location="cpu")
model.load_state_dict(state["weights"])

# A whole model in a file that the program trusts.
torch.save({"model": model, "options": args, "losses": losses}, args.name + ".whole.pt")
print(torch.load(args.name + ".whole.pt", weights_only=False)["model"])

# The second `torch.save` overwrites the file.
torch.save(args, args.name + ".twice.pt")
torch.save(model.state_dict(), args.name + ".twice.pt")
print(len(torch.load(args.name + ".twice.pt")))

try:
    torch.save(args, args.name + ".refused.pt")
    torch.load(args.name + ".refused.pt")
except Exception as error:
    print(type(error).__name__)
for end in (".pt", ".whole.pt", ".twice.pt", ".refused.pt"):
    os.remove(args.name + end)
