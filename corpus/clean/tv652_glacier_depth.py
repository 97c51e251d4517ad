import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 16


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.MSELoss()
        self.summed = nn.MSELoss(reduction="sum")
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def run(self, loader, epochs):
        for epoch in range(epochs):
            weighted, by_batches, summed, scaled, late = 0.0, 0.0, 0.0, 0.0, 0.0
            for x, y in loader:
                self.optimizer.zero_grad()
                out = self.model(x)
                loss = self.criterion(out, y)
                loss.backward()
                self.optimizer.step()
                weighted += loss.item() * x.size(0)
                by_batches += loss.item()
                all_of_it = self.summed(out, y)
                summed += all_of_it.item()
                of_batch = self.criterion(out, y)
                of_batch = of_batch * len(x)
                scaled += of_batch.item()
                late += loss.item()
            late *= BATCH_SIZE
            print(f"epoch {epoch}: {weighted / len(loader.dataset):.4f}, {by_batches / len(loader):.4f}")
            print(summed / len(loader.dataset), scaled / len(loader.dataset), late / len(loader.dataset))


def evaluate(model, loader):
    total, other = 0.0, 0.0
    for x, y in loader:
        with torch.no_grad():
            total += F.mse_loss(model(x), y, reduction="sum").item()
            loss = F.l1_loss(model(x), y)
        other += loss.item()
    total /= len(loader.dataset)
    return total, other / len(loader.dataset) * BATCH_SIZE


def sample_by_sample(model, loader):
    """The loss of each sample is added on its own."""
    total = 0.0
    for x, y in loader:
        for one, target in zip(x, y):
            with torch.no_grad():
                loss = nn.functional.mse_loss(model(one), target)
            total += loss.item()
        print("so far", total)
    samples = len(loader.dataset)
    return total / samples


def custom(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item()
    return total / len(loader.dataset)


torch.manual_seed(0)
depths = TensorDataset(torch.randn(64, 5), torch.randn(64, 1))
network = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
batches = DataLoader(depths, batch_size=BATCH_SIZE, shuffle=True)
Trainer(network).run(batches, 2)
print(evaluate(network, batches), sample_by_sample(network, batches))
print(custom(network, batches, lambda out, y: ((out - y) ** 2).sum()))
