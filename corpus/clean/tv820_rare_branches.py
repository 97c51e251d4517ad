"""Heads whose rare branches contain no slips of the pen."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class Cord:
    def detatch(self):
        return "cut"


def pooled(x, keep):
    if keep:
        return x
    return x.mean(dim=1, keepdim=True).squeeze(1)


def logged(losses, on_device=False):
    if on_device:
        return [loss.detach() for loss in losses]
    return [loss.item() for loss in losses]


# An older version of the object may have the other name.
def flat(x):
    try:
        return x.flaten()
    except AttributeError:
        return x.flatten()


head = nn.Linear(4, 2)
losses = [pooled(head(torch.rand(3, 4)), keep=False).mean() for _ in range(3)]
print(logged(losses), logged(losses, on_device=True), flat(torch.rand(2, 2)).shape, Cord().detatch())
