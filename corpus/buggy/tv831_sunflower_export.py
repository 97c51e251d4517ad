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
    def __init__(self, width, Attention=False):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.last = Attention(width) if Attention else nn.ReLU()  # warning: TV828

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
        print("continues for epochs:", args.sunflower_epoch)  # warning: TV830
    return model


def train(model, optimizer, args):
    for epoch in range(args.sunflower_epochs):
        x = torch.randn(16, args.width)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def main(args):
    model = load(Block(args.width), args)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    decay = lr_scheduler.ExponentialLR(optimizer, gamma=0.9)  # warning: TV658
    train(model, optimizer, args)
    with open("/dev/null", "w") as file:
        torch.save(model.state_dict(), file)  # error: TV831
    log = open("/dev/null", "w")
    pickle.dump(vars(model), log)  # error: TV831


if __name__ == "__main__":
    main(options().parse_args([]))
