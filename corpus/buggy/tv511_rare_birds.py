"""Rare birds that should be drawn as often as common ones."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
COUNTS = [80, 15, 5]


def birds():
    labels = torch.cat([torch.full((count,), kind) for kind, count in enumerate(COUNTS)])
    return TensorDataset(torch.rand(len(labels), 6), labels)


def balanced(dataset):
    labels = dataset.tensors[1]
    counts = torch.bincount(labels, minlength=len(COUNTS))
    weights = 1.0 / counts.double()
    sampler = WeightedRandomSampler(weights, num_samples=len(labels))  # warning: TV511
    return DataLoader(dataset, batch_size=20, sampler=sampler)


model = nn.Linear(6, len(COUNTS))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in balanced(birds()):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
