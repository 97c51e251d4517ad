"""Fits a small network to the level of a tide gauge; the settings are in a file beside the script."""
import pathlib

import torch
from torch import nn


def read(path):
    settings, section = {}, None
    for line in path.read_text().splitlines():
        name, value = line.split(":")
        if line.startswith(" "):
            section[name.strip()] = float(value)
        else:
            section = settings[name] = {}
    return settings


def network(config):
    width = int(config["model"]["width"])
    layers = [nn.Linear(4, width)]
    for _ in range(int(config["model"]["depth"])):
        layers += [nn.ReLU(), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.ReLU(), nn.Linear(width, 1))


def fit(model, levels, config):
    optimizer = torch.optim.SGD(model.parameters(), lr=config["train"]["rate"])
    for _ in range(int(config["train"]["epochs"])):
        loss = nn.functional.mse_loss(model(levels[:, :4]), levels[:, 4:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), config["train"]["clipping"])
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
config = read(pathlib.Path(__file__).with_name("settings.yaml"))
print(fit(network(config), torch.rand(64, 5), config))
