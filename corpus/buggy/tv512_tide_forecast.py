"""Trains a forecaster of tides from the measurements of two gauges."""
import argparse
from itertools import chain

import torch
import torch.nn as nn
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, TensorDataset, random_split


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", default=2)  # warning: TV832
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--plot", type=bool, default=False)  # info: TV832
    return parser.parse_args()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(24, 16)
        self.norm = nn.LayerNorm(16)
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        h = self.mix(x)  # warning: TV219
        h = self.norm(x[:, :16])
        return self.out(h)


def loaders(count=64):
    data = TensorDataset(torch.randn(count, 24), torch.randn(count, 4))
    train_set, val_set = random_split(data, [48, 16])
    train_loader = DataLoader(train_set, batch_size=8, shuffle=True)
    val_loader = DataLoader(train_set, batch_size=8)  # warning: TV512
    return train_loader, val_loader


def sharded(count=64):
    data = TensorDataset(torch.randn(count, 24), torch.randn(count, 4))
    train_set, val_set = random_split(data, [48, 16])
    train_loader = DataLoader(train_set, sampler=DistributedSampler(train_set, 1, 0))
    val_loader = DataLoader(val_set, sampler=DistributedSampler(train_set, 1, 0))  # warning: TV512
    return train_loader, val_loader


def batched(train_set, val_set):
    sampler = RandomSampler(train_set)
    sampler = BatchSampler(sampler, 8, False)
    train_loader = DataLoader(train_set, batch_sampler=sampler)
    val_sampler = BatchSampler(RandomSampler(val_set), 8, False)
    val_loader = DataLoader(train_set, batch_sampler=val_sampler)  # warning: TV512
    return train_loader, val_loader


def main():
    args = options()
    train_loader, val_loader = loaders()
    encoder, decoder = Encoder(), nn.Linear(4, 4)
    parameters = chain(encoder.parameters(), encoder.parameters())  # warning: TV659
    optimizer = torch.optim.Adam(parameters, lr=args.lr)
    for epoch in range(args.epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(decoder(encoder(x)), y).backward()
            optimizer.step()
        encoder.eval()
        with torch.no_grad():
            errors = [nn.functional.mse_loss(decoder(encoder(x)), y).item() for x, y in val_loader]
        encoder.train()
        print(epoch, sum(errors) / len(errors))


if __name__ == "__main__":
    main()
