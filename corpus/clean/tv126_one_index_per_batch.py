"""Flower classes: accuracy of a small network."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train_set = TensorDataset(torch.randn(96, 4), torch.randint(0, 3, (96,)))
loader = DataLoader(train_set, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters())


@torch.no_grad()
def evaluate(model, loader):
    correct = total = 0
    for x, y in loader:
        probabilities = F.softmax(model(x), dim=1)
        prediction = torch.argmax(probabilities, dim=1)
        correct += (prediction == y).sum().item()
        total += y.size(0)
    return correct / total


def hits(model, loader):
    found = 0
    for x, y in loader:
        found += (model(x).argmax(-1) == y).sum().item() / len(y)
    return found


def most_likely_pair(model, loader):
    """The place of the largest output of all: here one index is right."""
    places = []
    for x, y in loader:
        place = model(x).argmax()
        places.append((place, len(y)))
    return places


def samples(model, dataset):
    """One sample after the other."""
    correct = 0
    with torch.no_grad():
        for x, y in dataset:
            correct += int(model(x).argmax() == y)
    return correct / len(dataset)


for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
model.eval()
print(evaluate(model, loader), samples(model, train_set))
