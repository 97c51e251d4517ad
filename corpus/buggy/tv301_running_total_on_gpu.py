# needs: cuda
"""Evaluate on the GPU; the confusion matrix is kept beside it."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Meter:
    def __init__(self, num_classes):
        self.correct = torch.zeros(num_classes)
        self.seen = torch.zeros(num_classes)

    def update(self, logits, target):
        hits = logits.argmax(dim=1) == target
        ones = torch.ones_like(target, dtype=torch.float32)
        self.seen.index_add_(0, target, ones)  # error: TV301
        self.correct.index_add_(0, target, hits.float())  # error: TV301

    def accuracy(self):
        return (self.correct / self.seen.clamp(min=1)).mean().item()


@torch.no_grad()
def evaluate(model, loader, device, num_classes=3):
    meter = Meter(num_classes)
    model.eval()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        meter.update(model(x), y)
    return meter.accuracy()


data = TensorDataset(torch.randn(30, 5), torch.randint(0, 3, (30,)))
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
net = nn.Linear(5, 3).to(device)
print(evaluate(net, DataLoader(data, batch_size=10), device))
