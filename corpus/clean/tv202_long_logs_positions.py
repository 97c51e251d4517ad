"""Anomalies in log lines: a transformer over bytes with learned positions."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Logs(Dataset):
    def __init__(self, max_len):
        self.max_len = max_len

    def __len__(self):
        return 8

    def __getitem__(self, i):
        line = torch.randint(1, 256, (self.max_len,))
        return line, torch.tensor(float(i % 2))


class Encoder(nn.Module):
    def __init__(self, dim=16, max_positions=128):
        super().__init__()
        self.tokens = nn.Embedding(256, dim)
        self.positions = nn.Embedding(max_positions, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 32, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 1)
        self.score = nn.Linear(dim, 1)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device).unsqueeze(0).expand_as(x)
        h = self.tokens(x) + self.positions(positions)
        return self.score(self.body(h).mean(1)).squeeze(-1)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-len", type=int, default=200)
    parser.add_argument("--dim", type=int, default=16)
    return parser.parse_args()


def main(args):
    model = Encoder(args.dim, max_positions=args.max_len)
    criterion = nn.BCEWithLogitsLoss()
    for lines, labels in DataLoader(Logs(args.max_len), batch_size=4):
        loss = criterion(model(lines), labels)
        loss.backward()


if __name__ == "__main__":
    main(parse())
