"""Which recordings are covers of one song: embeddings that should agree, or not."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, count=96):
        rng = random.Random(5)
        self.items = []
        for _ in range(count):
            song = torch.randn(20)
            cover = 1 if rng.random() < 0.5 else -1
            other = song + 0.1 * torch.randn(20) if cover == 1 else torch.randn(20)
            self.items.append((song, other, cover))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        song, other, cover = self.items[index]
        return song, other, torch.tensor(cover, dtype=torch.float)


torch.manual_seed(5)
embed = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
rank = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*embed.parameters(), *rank.parameters()], lr=1e-3)
cosine = nn.CosineEmbeddingLoss(margin=0.1)
margin = nn.MarginRankingLoss(margin=0.5)
for song, other, cover in DataLoader(Pairs(), batch_size=16, shuffle=True):
    first, second = embed(song), embed(other)
    loss = cosine(first, second, cover)
    # The target is 1 for all pairs, or 1 and -1 from a comparison.
    better, worse = rank(first).squeeze(1), rank(second).squeeze(1)
    loss = loss + margin(better, worse, torch.ones_like(better))
    louder = (song.std(dim=1) > other.std(dim=1)).float() * 2 - 1
    loss = loss + margin(better, worse, louder) + margin(better, worse, torch.sign(song[:, 0] - other[:, 0]))
    loss = loss + F.cosine_embedding_loss(first, second, torch.ones(len(first)))
    bits = (cover + 1) / 2
    loss = loss + F.binary_cross_entropy_with_logits(better, bits)
    # -1 means unknown, and is excluded from the loss.
    known = torch.where(song[:, 0] > 1, -1.0, bits)
    each = F.binary_cross_entropy_with_logits(worse, known, reduction="none")
    loss = loss + each[known >= 0].mean()
    loss = loss + F.binary_cross_entropy_with_logits(worse, known, weight=(known >= 0).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
