"""Sentiment of reviews, with an LSTM over the tokens that are not padding."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence

torch.manual_seed(0)


class Reviews(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16, padding_idx=0)
        self.rnn = nn.LSTM(16, 32, batch_first=True)
        self.head = nn.Linear(32, 2)

    def forward(self, tokens):
        lengths = (tokens != 0).sum(dim=1).cpu()
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        return self.head(self.rnn(packed)[1][0][-1])

    def encode(self, tokens, mask):
        lengths, order = mask.sum(1).long().sort(descending=True)
        packed = pack_padded_sequence(self.embed(tokens)[order], lengths.tolist(), batch_first=True)
        return self.rnn(packed)[1][0][-1]

    def moved(self, tokens):
        lengths = (tokens != 0).sum(dim=1)
        lengths = lengths.to("cpu")
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        return self.rnn(packed)[1][0][-1]

    def with_lengths(self, tokens, lengths):
        # The caller keeps the lengths on the CPU.
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        return self.rnn(packed)[1][0][-1]


device = torch.device(os.environ.get("TRAIN_DEVICE", "cpu"))
model = Reviews().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(3):
    tokens, y = torch.randint(1, 50, (8, 12), device=device), torch.randint(0, 2, (8,), device=device)
    tokens[:4, 6:] = 0
    optimizer.zero_grad()
    loss = F.cross_entropy(model(tokens), y)
    loss.backward()
    optimizer.step()
print(model.encode(tokens, tokens != 0).shape, model.moved(tokens).shape)
print(model.with_lengths(tokens, torch.full((8,), 6)).shape)
