"""Settings as a dataclass and as a namespace, and a block that wraps a part before its base sets it."""
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import nn


@dataclass
class Settings:
    width: int = 8
    depth: int = 2
    dropout_rate: float = 0.1


class Wide(Settings):
    def __init__(self):
        super().__init__(width=16)
        self.gates, self.heads = 2, 4


def build(settings: Settings):
    layers = [nn.Linear(settings.width, settings.width) for _ in range(settings.depth)]
    return nn.Sequential(*layers, nn.Dropout(settings.dropout_rate))


def gates(settings: Settings):
    return settings.gates * settings.heads


class Block(nn.Module):
    def __init__(self, core):
        super().__init__()
        self.core = core


class Gated(Block):
    def __init__(self, width, gated=True):
        core = nn.Linear(width, width)
        if gated:
            core = nn.Sequential(core, nn.Sigmoid())
        super().__init__(core)


class Head(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.line = nn.Linear(config.width, config.classes)
        self.drop = nn.Dropout(config.drop_rate)


config = SimpleNamespace(width=8, classes=3)
config.drop_rate = 0.2
head = Head(config)
print(head.drop(head.line(torch.zeros(2, 8))).shape)
print(build(Settings())(torch.zeros(2, 8)).shape, Gated(4).core(torch.zeros(1, 4)).shape, gates(Wide()))
