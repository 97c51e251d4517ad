# needs: data
"""Crop diseases; everything is set in configs/crops.yaml."""
import os

import torch
import torch.nn.functional as F
import yaml
from torch import nn


class Config(dict):
    """A dictionary whose keys are attributes, at every level."""

    def __init__(self, entries):
        super().__init__()
        for key, value in entries.items():
            self[key] = Config(value) if isinstance(value, dict) else value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    __setattr__ = dict.__setitem__


def load_config(name="crops"):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "configs", f"{name}.yaml")
    with open(path, encoding="utf-8") as f:
        return Config(yaml.safe_load(f))


def build(cfg):
    layers, width = [], 3
    for channels in cfg.model.channels:
        layers += [nn.Conv2d(width, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(2)]
        width = channels
    side = cfg.data.size // 2 ** len(cfg.model.channels)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * side * side, len(cfg.data.classes)))


cfg = load_config()
cfg.device = "cuda" if torch.cuda.is_available() else "cpu"
model = build(cfg).to(cfg.device)
optimizer = torch.optim.SGD(model.parameters(), lr=float(cfg.train.lr), momentum=cfg.train.momentum)

for step in range(cfg.train.steps):
    leaves = torch.rand(cfg.train.batch_size, 3, cfg.data.size, cfg.data.size, device=cfg.device)
    diseases = torch.randint(len(cfg.data.classes), (cfg.train.batch_size,), device=cfg.device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(leaves), diseases)
    loss.backward()
    optimizer.step()
