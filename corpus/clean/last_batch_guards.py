"""65 readings in batches of 16 leave one over: four programs that know."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

readings = TensorDataset(torch.randn(65, 4), torch.randint(0, 3, (65,)))


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))


def skip_single(model, loader):
    for x, y in loader:
        if x.size(0) == 1:
            continue
        nn.functional.cross_entropy(model(x), y).backward()


def only_full(model, loader):
    for x, y in loader:
        if len(x) < loader.batch_size:
            break
        nn.functional.cross_entropy(model(x), y).backward()


def only_some(model, loader, limit=3):
    for step, (x, y) in enumerate(loader):
        if step == limit:
            break
        nn.functional.cross_entropy(model(x), y).backward()


def padded(model, loader):
    for x, y in loader:
        missing = loader.batch_size - x.shape[0]
        if missing > 0:
            x = torch.cat([x, torch.zeros(missing, 4)])
        logits = model(x)[: len(y)]
        nn.functional.cross_entropy(logits, y).backward()


for run in (skip_single, only_full, only_some, padded):
    run(network(), DataLoader(readings, batch_size=16))
evaluated = network().eval()
with torch.no_grad():
    for x, y in DataLoader(readings, batch_size=16):
        print(evaluated(x).argmax(1).eq(y).sum().item())
