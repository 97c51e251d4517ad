"""Few-shot episodes: the supports are written over the queries, which one shot alone broadcasts to."""
import argparse

import torch
import torch.nn as nn


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n-way", type=int, default=5)
    parser.add_argument("--n-shot", type=int, default=5)
    parser.add_argument("--width", type=int, default=8)
    return parser.parse_args()


class Episodes(nn.Module):
    def __init__(self, n_way, n_support, n_query):
        super().__init__()
        self.n_way, self.n_support, self.n_query = n_way, n_support, n_query

    def split(self, x):
        z = x.view(self.n_way, self.n_support + self.n_query, -1)
        return z[:, : self.n_support], z[:, self.n_support :].clone()


def mix(episodes, x):
    supports, queries = episodes.split(x)
    queries[0] = supports[0]  # warning: TV401
    return queries


args = parse_args()
episodes = Episodes(args.n_way, args.n_shot, 16)
mixed = mix(episodes, torch.randn(args.n_way, args.n_shot + 16, args.width))

print(mixed.shape)
