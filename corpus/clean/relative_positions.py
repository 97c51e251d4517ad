"""Relative positions of an attention layer, held within a span that is a tensor of no dimension."""

import torch
from torch import nn


class RelativeAttention(nn.Module):
    def __init__(self, width=32, reach=8):
        super().__init__()
        self.reach = reach
        self.table = nn.Embedding(2 * reach, width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)

    def span(self, queries, keys):
        return torch.tensor(min(max(queries.size(1), keys.size(1)), self.reach))

    def forward(self, x):
        queries, keys = self.query(x), self.key(x)
        places = torch.arange(x.size(1))
        distance = places[:, None] - places[None, :]
        span = self.span(queries, keys)
        # `min` of `clamp` is a number and `max` may be a 0-d tensor.
        index = torch.clamp(distance + span, 0, span * 2 - 1)
        bias = torch.einsum("bqd,qkd->bqk", queries, self.table(index))
        scores = queries @ keys.transpose(1, 2) + bias
        return scores.softmax(-1) @ x


if __name__ == "__main__":
    layer = RelativeAttention()
    out = layer(torch.randn(2, 12, 32))
    print(out.shape)
