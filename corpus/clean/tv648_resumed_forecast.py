"""A forecast whose training can be resumed."""
import os
import tempfile

import torch
import torch.nn as nn

torch.manual_seed(0)


def train(path, steps):
    model = nn.Linear(6, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
    if os.path.exists(path):
        checkpoint = torch.load(path, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.randn(8, 6)), torch.randn(8, 1))
        loss.backward()
        optimizer.step()
        scheduler.step()
    checkpoint = {"model": model.state_dict(), "scheduler": scheduler.state_dict()}
    checkpoint["optimizer"] = optimizer.state_dict()
    torch.save(checkpoint, path)


# The objects themselves are stored under these keys.
def copied(model, path):
    first_optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    second_optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    torch.save({"net": model, "first": first_optimizer}, path)
    stored = torch.load(path, weights_only=False)
    second_optimizer.load_state_dict(stored["first"].state_dict())
    model.load_state_dict(stored["net"].state_dict())
    return second_optimizer


# The module comes from the file of another program, which contains the whole module.
def fine_tuned(model, released, path):
    model.load_state_dict(torch.load(released, weights_only=False)["model"].state_dict())
    torch.save({"model": model.state_dict()}, path)


folder = tempfile.mkdtemp()
path = os.path.join(folder, "last.pt")
train(path, 4)
train(path, 4)
print(copied(nn.Linear(2, 1), os.path.join(folder, "whole.pt")))
released = os.path.join(folder, "released.pt")
torch.save(dict([("model", nn.Linear(2, 1))]), released)
fine_tuned(nn.Linear(2, 1), released, os.path.join(folder, "tuned.pt"))
