"""Columns of a batch of unknown length, taken apart by `zip` and `map`."""

import random

import torch
import torch.nn as nn


def make_batch(size):
    batch, positive = [], 0
    while positive < size:
        tokens = [random.randrange(1, 20) for _ in range(12)]
        if tokens[0] != tokens[1]:
            batch.append([tokens, [0] * 12, tokens[0] > tokens[1]])
            positive += 1
    return batch


def padding_mask(query, key):
    batch_size, query_len = query.size()
    batch_size, key_len = key.size()
    return key.eq(0).unsqueeze(1).expand(batch_size, query_len, key_len)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.segments = nn.Embedding(2, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens, segments):
        mask = padding_mask(tokens, tokens)
        x = self.tokens(tokens) + self.segments(segments)
        weights = torch.zeros(mask.shape).masked_fill(mask, -1e9).softmax(dim=-1)
        return self.head((weights @ x)[:, 0])


model = Classifier()
criterion = nn.CrossEntropyLoss()
tokens, segments, is_next = map(torch.LongTensor, zip(*make_batch(6)))
loss = criterion(model(tokens, segments), is_next)
loss.backward()
print(loss.item())
