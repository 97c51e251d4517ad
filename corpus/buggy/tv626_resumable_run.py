"""A run that saves what it cannot load again."""
import argparse
import os

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=8)
parser.add_argument("--name", default="/tmp/torchvet-resumable-run.pt")
args = parser.parse_args()


class History:
    def __init__(self):
        self.losses = []


def save(model, history):
    torch.save({"weights": model.state_dict(), "run": {"options": args, "history": history}}, args.name)


def resume(model):
    if not os.path.exists(args.name):
        return 0
    state = torch.load(args.name, map_location="cpu")  # error: TV626
    model.load_state_dict(state["weights"])
    return len(state["run"]["history"].losses)


model, history = nn.Linear(4, args.width), History()
for step in range(3):
    history.losses.append(model(torch.randn(2, 4)).mean().item())
save(model, history)
print(resume(model))
