"""Mixed precision with gradients accumulated over micro-batches; the scaler is used out of turn."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def clipped_every_batch(model, loader, optimizer, scaler):
    """The window is longer than one batch, but every batch is unscaled."""
    for i, (x, y) in enumerate(loader):
        with torch.autocast(DEVICE):
            loss = nn.functional.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE)) / 4
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)  # error: TV618
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (i + 1) % 4 == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def update_once_per_epoch(model, loader, optimizer, scaler):
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE))
            scaler.scale(loss).backward()
            scaler.step(optimizer)  # error: TV618
        scaler.update()


def main():
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    loader = DataLoader(data, batch_size=4)
    model = nn.Linear(16, 4).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    clipped_every_batch(model, loader, optimizer, torch.amp.GradScaler(DEVICE))
    update_once_per_epoch(model, loader, optimizer, torch.amp.GradScaler(DEVICE))


main()


class Engine:
    def __init__(self, model, window=4):
        self.model = model.to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler(DEVICE)
        self.window = window

    def epoch(self, loader):
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(self.model(x.to(DEVICE)), y.to(DEVICE)) / self.window
            self.scaler.scale(loss).backward()
            if (i + 1) % self.window == 0:
                self.scaler.step(self.optimizer)  # error: TV618
                self.optimizer.zero_grad(set_to_none=True)


engine = Engine(nn.Linear(16, 4))
for number in range(2):
    engine.epoch(DataLoader(TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,))), batch_size=4))
