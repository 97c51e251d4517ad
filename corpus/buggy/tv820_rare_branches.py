"""Heads whose rare branches contain slips of the pen."""
import torch
import torch.nn as nn

torch.manual_seed(0)


def pooled(x, keep):
    if keep:
        return x
    return x.mean(dim=1, keepdim=True).sequeeze(1)  # warning: TV820


def logged(losses, on_device=False):
    if on_device:
        return [loss.detatch() for loss in losses]  # warning: TV820
    return [loss.item() for loss in losses]


head = nn.Linear(4, 2)
losses = [pooled(head(torch.rand(3, 4)), keep=True).mean() for _ in range(3)]
print(logged(losses))
