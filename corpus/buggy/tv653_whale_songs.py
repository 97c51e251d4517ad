import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.sampler import SubsetRandomSampler

torch.manual_seed(0)
songs = TensorDataset(torch.randn(100, 8), torch.randint(2, (100,)))
indices = list(range(len(songs)))
np.random.shuffle(indices)
train_indices, valid_indices = indices[20:], indices[:20]
train_sampler = SubsetRandomSampler(train_indices)
train_loader = DataLoader(songs, batch_size=16, sampler=train_sampler)
valid_loader = DataLoader(songs, batch_size=16, sampler=SubsetRandomSampler(valid_indices))

model = nn.Linear(8, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def validate(model, valid_loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in valid_loader:
            correct += (model(x).argmax(dim=1) == y).sum().item()
    return 100.0 * correct / len(valid_loader.dataset)  # warning: TV653


for epoch in range(2):
    model.train()
    train_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * x.size(0)
    train_loss /= len(train_loader.dataset)  # warning: TV653
    print(epoch, train_loss, validate(model, valid_loader))
