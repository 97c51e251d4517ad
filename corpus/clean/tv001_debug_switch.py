import os

if os.environ.get("DEBUG_CUDA"):
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

import random

import torch
from torch import nn


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


class Runner:
    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.net = nn.Linear(7, 2).to(self.device)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def step(self):
        x = torch.randn(8, 7).to(self.device)
        y = torch.randint(2, (8,)).to(self.device)
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    seed_everything(0)
    runner = Runner()
    print("launch blocking:", os.environ.get("CUDA_LAUNCH_BLOCKING"))
    for i in range(5):
        print(i, runner.step())


if __name__ == "__main__":
    main()
