"""Processes that train one model together; only evaluation goes around the wrapper."""
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
    check = torch.zeros(1, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (check * 2).sum().backward()
    with torch.enable_grad(), torch.autograd.set_detect_anomaly(True):
        (check * 3).sum().backward()
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    model = DistributedDataParallel(Tagger(50, 4))
    optimizer = torch.optim.Adam(model.parameters())
    words = torch.randint(50, (32, 6))
    loader = DataLoader(TensorDataset(words, words % 4), batch_size=8)
    for words, tags in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(words).flatten(0, 1), tags.flatten()) + 1e-4 * model.module.out.weight.norm()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(rank, model.module(words).argmax(-1).eq(tags).float().mean().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(1, os.path.join(folder, "store")), nprocs=1)
