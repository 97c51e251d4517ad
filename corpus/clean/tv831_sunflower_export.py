"""Trains a classifier of flowers with options, and exports it."""
import argparse
import pickle

import torch
import torch.nn as nn
from torch.optim import lr_scheduler


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        return x * torch.sigmoid(self.gate(x))


class Block(nn.Module):
    def __init__(self, width, attention=False):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.last = Attention(width) if attention else nn.ReLU()

    def forward(self, x):
        return self.last(self.linear(x))


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--sunflower-epochs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    return parser


def load(model, args):
    if args.resume:
        print("continues for epochs:", args.sunflower_epochs)
    return model


def train(model, optimizer, args, decay):
    for epoch in range(args.sunflower_epochs):
        x = torch.randn(16, args.width)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        decay.step()


def main(args):
    model = load(Block(args.width), args)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    decay = lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    train(model, optimizer, args, decay)
    with open("/dev/null", "wb") as file:
        torch.save(model.state_dict(), file)
    log = open("/dev/null", "w")
    log.write("done")
    log = open("/dev/null", "wb")
    pickle.dump([args.lr], log)
    args.started = True
    if hasattr(args, "finished") and args.finished:
        print(args.started)


if __name__ == "__main__":
    main(options().parse_args([]))
