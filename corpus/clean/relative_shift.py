"""The relative shift of Transformer-XL: a view of padded scores moves every row by one more place."""

import torch
import torch.nn.functional as F
from torch import nn


class RelativeScores(nn.Module):
    def __init__(self, width=32, heads=4, reach=64):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, width)
        self.places = nn.Parameter(torch.randn(2 * reach - 1, width // heads))

    def shift(self, scores):
        batch, heads, rows, places = scores.shape
        scores = F.pad(scores, (1, 0))
        # The sizes are swapped on purpose: the padding shifts each row by one.
        scores = scores.view(batch, heads, places + 1, rows)
        return scores[:, :, 1:].view(batch, heads, rows, places)[..., :rows]

    def forward(self, x):
        batch, length, width = x.shape
        queries = self.project(x).view(batch, length, self.heads, -1).transpose(1, 2)
        middle = self.places.size(0) // 2
        near = self.places[middle - length + 1 : middle + length]
        return self.shift(queries @ near.t()).softmax(-1)


if __name__ == "__main__":
    print(RelativeScores()(torch.randn(2, 10, 32)).shape)
