"""States that their modules take, or that are loaded as far as they fit."""

import copy

import torch
import torch.nn as nn


class Tied(nn.Module):
    def __init__(self, tie=True):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.out = nn.Linear(4, 10, bias=False)
        if tie:
            self.out.weight = self.embed.weight


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = self.first
        self.register_buffer("table", torch.zeros(3), persistent=False)
        self.register_buffer("kept", torch.zeros(3))


Tied(False).load_state_dict(Tied().state_dict())
Tied().load_state_dict(Tied(False).state_dict())
Twice().load_state_dict(Twice().state_dict())
state = {k: v for k, v in Twice().state_dict().items()}
Twice().load_state_dict(state)

norm = nn.BatchNorm1d(4)
norm.load_state_dict({"weight": torch.ones(4), "bias": torch.zeros(4), "running_mean": torch.zeros(4), "running_var": torch.ones(4)})

layer, longer = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 2))
longer.load_state_dict(layer.state_dict(), strict=False)
longer.load_state_dict({f"0.{k}": v for k, v in layer.state_dict().items()}, strict=False)
longer[0].load_state_dict(layer.state_dict())
copy.deepcopy(longer).load_state_dict(longer.state_dict())

parallel = nn.DataParallel(layer)
nn.Linear(4, 2).load_state_dict(parallel.module.state_dict())
nn.Linear(4, 2).load_state_dict({k[len("module."):]: v for k, v in parallel.state_dict().items()})
nn.DataParallel(nn.Linear(4, 2)).load_state_dict(parallel.state_dict())

for make in (
    lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True),
    lambda: nn.MultiheadAttention(8, 2),
    lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2),
    lambda: nn.Conv2d(3, 4, 3, bias=False),
    lambda: nn.ModuleDict({"a": nn.GRU(2, 3), "b": nn.GroupNorm(2, 4)}),
):
    make().load_state_dict(make().state_dict())

half = nn.Linear(4, 2)
own = half.state_dict()
given = {k: v for k, v in nn.Linear(4, 3).state_dict().items() if k in own and v.shape == own[k].shape}
own.update(given)
half.load_state_dict(own)
