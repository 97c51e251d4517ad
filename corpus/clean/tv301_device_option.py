"""The module and its input are on the device that the command line names."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
args = parser.parse_args()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)

    def greedy_search(self, x):
        ys = torch.ones(x.size(0), 1).long().to(args.device)
        return self.embedding(ys)
