"""Processes that each train a model of their own, with a search for NaN that was never taken out."""
# needs: processes
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.table = nn.Embedding(words, 16)
        self.out = nn.Linear(16, tags)

    def forward(self, words):
        return self.out(self.table(words))

    def loss(self, words, tags):
        return F.cross_entropy(self(words).flatten(0, 1), tags.flatten())


def work(rank, world, store):
    torch.manual_seed(rank)
    torch.autograd.set_detect_anomaly(True)  # warning: TV006
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    model = DistributedDataParallel(Tagger(50, 4))
    optimizer = torch.optim.Adam(model.parameters())
    words = torch.randint(50, (32, 6))
    loader = DataLoader(TensorDataset(words, words % 4), batch_size=8)
    for words, tags in loader:
        optimizer.zero_grad()
        loss = model.module.loss(words, tags)  # warning: TV625
        loss.backward()
        optimizer.step()
    inner = model.module
    for words, tags in loader:
        optimizer.zero_grad()
        scores = inner(words)  # warning: TV625
        F.cross_entropy(scores.flatten(0, 1), tags.flatten()).backward()
        optimizer.step()
    with torch.no_grad():
        print(rank, model.module(words).argmax(-1).eq(tags).float().mean().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(1, os.path.join(folder, "store")), nprocs=1)
