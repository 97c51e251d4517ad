"""Classifies windows of six sensors, with data-parallel training."""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

SENSORS, CLASSES = 6, 3


class Block(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.conv = nn.Conv1d(width_in, width_out, 3, padding=1, bias=False)
        self.batch_norm = nn.BatchNorm1d(width_out)

    def forward(self, x):
        return torch.relu(self.batch_norm(self.conv(x)))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(Block(SENSORS, 8), Block(8, 16))
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=-1))


def connect():
    if not dist.is_initialized():
        start = os.path.join(tempfile.mkdtemp(), "start")
        dist.init_process_group("gloo", init_method="file://" + start, rank=0, world_size=1)


def main():
    connect()
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, SENSORS, 20), torch.randint(CLASSES, (32,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(Classifier())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.3f}")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        print(error)
