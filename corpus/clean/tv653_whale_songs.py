import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.sampler import SubsetRandomSampler

torch.manual_seed(0)
songs = TensorDataset(torch.randn(100, 8), torch.randint(2, (100,)))
test_songs = TensorDataset(torch.randn(30, 8), torch.randint(2, (30,)))
indices = list(range(len(songs)))
np.random.shuffle(indices)
train_indices, valid_indices = indices[20:], indices[:20]
train_loader = DataLoader(songs, batch_size=16, sampler=SubsetRandomSampler(train_indices))
valid_loader = DataLoader(songs, batch_size=16, sampler=SubsetRandomSampler(valid_indices))
# Each sample is drawn.
shuffled_loader = DataLoader(songs, batch_size=16, sampler=SubsetRandomSampler(indices))
random_loader = DataLoader(songs, batch_size=16, sampler=SubsetRandomSampler(torch.randperm(len(songs)).tolist()))
# The dataset itself is the part.
part_loader = DataLoader(Subset(songs, valid_indices), batch_size=16)
# One name for two loaders.
loader = DataLoader(songs, batch_size=16, sampler=SubsetRandomSampler(valid_indices))
first = next(iter(loader))
loader = DataLoader(songs, batch_size=16)

model = nn.Linear(8, 2)


def count(model, batches):
    with torch.no_grad():
        return sum((model(x).argmax(dim=1) == y).sum().item() for x, y in batches)


def accuracy(model, valid_loader):
    return count(model, valid_loader) / len(valid_loader.dataset)


print("part of the songs:", len(valid_loader.sampler) / len(valid_loader.dataset))
print("part of the songs:", len(valid_indices) / len(songs))
print(count(model, train_loader) / len(train_loader.sampler), count(model, valid_loader) / len(valid_indices))
print(count(model, shuffled_loader) / len(shuffled_loader.dataset))
print(count(model, random_loader) / len(random_loader.dataset))
print(count(model, part_loader) / len(part_loader.dataset), count(model, loader) / len(loader.dataset))
print(accuracy(model, DataLoader(test_songs, batch_size=10)))
for index, (x, y) in enumerate(train_loader):
    print(f"{100.0 * index * len(x) / len(train_loader.dataset):.0f}% of all songs")
