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
        optimizer.load_state_dict(checkpoint["optimizer"].state_dict())  # warning: TV648
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.randn(8, 6)), torch.randn(8, 1))
        loss.backward()
        optimizer.step()
        scheduler.step()
    checkpoint = {"model": model.state_dict(), "scheduler": scheduler.state_dict()}
    checkpoint["optimizer"] = optimizer.state_dict()
    torch.save(checkpoint, path)


path = os.path.join(tempfile.mkdtemp(), "last.pt")
train(path, 4)
try:
    train(path, 4)
except AttributeError as error:
    print(error)
