import torch
import torch.nn as nn


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)


def other_names():
    nn.Linear(4, 2).load_state_dict(Wrapped().state_dict())  # error: TV405


def more_names():
    nn.Linear(4, 2, bias=False).load_state_dict(nn.Linear(4, 2).state_dict())  # error: TV405


def nested():
    checkpoint = {"state": nn.Linear(4, 2).state_dict(), "epoch": 3}
    nn.Linear(4, 2).load_state_dict(checkpoint)  # error: TV405


def path():
    nn.Linear(4, 2).load_state_dict("model.pth")  # error: TV405


for load in (other_names, more_names, nested, path):
    try:
        load()
    except (RuntimeError, TypeError) as error:
        print(load.__name__, error)
path()
