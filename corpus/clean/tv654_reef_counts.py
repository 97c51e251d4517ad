import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def corals(count=96):
    photos = torch.rand(count, 3, 16, 16)
    species = (photos.mean(dim=(1, 2, 3)) * 4).long().clamp(0, 3)
    return TensorDataset(photos, species)


def fill(values, value):
    values.append(value)


def evaluate(model, loader):
    model.eval()
    recalls = []
    filled = []
    joined = []
    with torch.no_grad():
        for photos, species in loader:
            guesses = model(photos).argmax(dim=1)
            hits = (guesses == species).float()
            recalls.append(hits.mean().item())
            fill(filled, hits.sum().item())
            joined += [hits]
    print(np.max(filled), torch.cat(joined).mean())
    return np.mean(recalls)


def columns(rows):
    by_kind = {}
    first = by_kind.setdefault("first", [])
    for row in rows:
        first.append(row)
    empty = []
    return np.mean(first), empty


def main():
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(corals(), batch_size=16, shuffle=True)
    for epoch in range(2):
        model.train()
        for photos, species in loader:
            optimizer.zero_grad()
            loss = criterion(model(photos), species)
            loss.backward()
            optimizer.step()
        print(epoch, evaluate(model, loader), columns([1.0, 2.0]))


main()
