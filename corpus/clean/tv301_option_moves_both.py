"""With `--cuda`, the module and its input are on the GPU; without it, both are on the CPU."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true")
args = parser.parse_args()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Linear(8, 10, bias=False)

    def greedy_search(self, x):
        ys = torch.ones(x.size(0), 1).long()
        if args.cuda:
            ys = ys.cuda()
        for _ in range(3):
            hidden = self.dropout(self.embedding(ys) * 1.0)
            prob = self.output(hidden)
            _, word = torch.max(prob[:, -1], dim=1)
            word = word.unsqueeze(-1)
            if args.cuda:
                ys = torch.cat([ys, word.cuda()], dim=1)
            else:
                ys = torch.cat([ys, word], dim=1)
        return ys
