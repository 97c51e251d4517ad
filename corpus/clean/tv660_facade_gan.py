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
            self.epoch += 1


def groups(modules, rates, decays):
    found = []
    for name, module in modules.items():
        group = {"name": name}
        group["params"] = list(module.parameters())
        group["lr"] = rates[name]
        if name in decays:
            group["weight_decay"] = decays[name]
        found.append(group)
    return found


generator = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
discriminator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer_D = optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.9))
optimizer_G = optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.9))
print(len(optim.Adam(groups({"g": generator, "d": discriminator}, {"g": 1e-3, "d": 1e-4}, {"d": 0.1})).param_groups))
print(next(iter(Sampler(3))))


class Worker:
    """A loop with `break`, and a loop that a handler ends."""

    def __init__(self):
        self.done = 0

    def run(self, queue):
        while True:
            if not queue:
                break
            for item in queue:
                if item:
                    break
            self.done += len(queue.pop())
        self.done += 1
        try:
            while True:
                queue.pop()
        except IndexError:
            self.done += 1
        return self.done


def own_groups(model):
    """The program itself reads the rate."""
    group = {"params": list(model.parameters()), "learning_rate": 0.1}
    return optim.SGD([{"params": group["params"], "lr": group["learning_rate"]}])


print(Worker().run([[1], [2]]), len(own_groups(generator).param_groups))
# One optimizer for both networks, and a pair whose names do not tell which is meant.
optimizer_A = optim.Adam(list(generator.parameters()) + list(discriminator.parameters()))
optimizer_B = optim.Adam(discriminator.parameters())
