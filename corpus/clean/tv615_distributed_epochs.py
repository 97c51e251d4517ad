"""The ways in which scripts tell a sampler the epoch, with a look at a batch before."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

data = TensorDataset(torch.randn(24, 3), torch.arange(24) % 2)
sampler = DistributedSampler(data, num_replicas=2, rank=0)
train_loader = DataLoader(data, batch_size=4, sampler=sampler)
# The order of the validation data does not matter.
valid_loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, num_replicas=2, rank=0))
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def run_epoch(epoch):
    first = next(iter(train_loader))[0]
    print("epoch", epoch, "batch", len(first))
    train_loader.sampler.set_epoch(epoch)
    for x, y in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        accuracy(train_loader)


def accuracy(loader):
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).float().mean().item() for x, y in loader)


for epoch in range(3):
    run_epoch(epoch)
    print(accuracy(valid_loader))
print(accuracy(train_loader))
