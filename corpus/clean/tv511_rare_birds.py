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
    weights = weights[labels]
    sampler = WeightedRandomSampler(weights, num_samples=len(labels))
    return DataLoader(dataset, batch_size=20, sampler=sampler)


model = nn.Linear(6, len(COUNTS))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in balanced(birds()):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()


def balanced_by_list(dataset):
    labels = dataset.tensors[1].tolist()
    per_kind = 1.0 / torch.bincount(dataset.tensors[1])
    return WeightedRandomSampler([float(per_kind[label]) for label in labels], num_samples=len(labels))


print(len(list(balanced_by_list(birds()))))
