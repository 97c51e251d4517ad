"""Settings as a dataclass and as a namespace, and a block that reads a part before its base sets it."""
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import nn


@dataclass
class Settings:
    width: int = 8
    depth: int = 2
    dropout_rate: float = 0.1


def build(settings: Settings):
    layers = [nn.Linear(settings.width, settings.width) for _ in range(settings.depth)]
    return nn.Sequential(*layers, nn.Dropout(settings.dropout))  # warning: TV801


class Block(nn.Module):
    def __init__(self, core):
        super().__init__()
        self.core = core


class Gated(Block):
    def __init__(self, width, gated=True):
        core = nn.Linear(width, width)
        if gated:
            core = nn.Sequential(self.core, nn.Sigmoid())  # error: TV801
        super().__init__(core)


class Head(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.line = nn.Linear(config.width, config.classes)
        self.drop = nn.Dropout(config.drop_rate)  # error: TV801


def main():
    config = SimpleNamespace(width=8, classes=3)
    head = Head(config)
    print(head.line(torch.zeros(2, 8)).shape)


main()
