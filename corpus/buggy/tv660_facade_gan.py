"""Trains a small GAN on facades."""
import torch
from torch import nn, optim


class Sampler:
    def __init__(self, size):
        self.size, self.epoch = size, 0

    def __iter__(self):
        while True:
            generator = torch.Generator().manual_seed(self.epoch)
            yield from torch.randperm(self.size, generator=generator).tolist()
        self.epoch += 1  # warning: TV221


def groups(modules, rates, decays):
    found = []
    for name, module in modules.items():
        group = {"name": name}
        group["params"] = list(module.parameters())
        group["lr"] = rates[name]
        if name in decays:
            group["wd"] = decays[name]  # warning: TV811
        found.append(group)
    return found


generator = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
discriminator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer_D = optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.9))  # warning: TV660
optimizer_G = optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.9))
print(len(optim.Adam(groups({"g": generator, "d": discriminator}, {"g": 1e-3, "d": 1e-4}, {"d": 0.1})).param_groups))
print(next(iter(Sampler(3))))
