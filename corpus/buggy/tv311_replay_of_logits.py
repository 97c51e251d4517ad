"""A buffer of earlier samples, replayed together with the logits of the old model."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Buffer:
    def __init__(self, size, classes, device):
        self.x = torch.zeros(size, 8, device=device)
        self.y = torch.zeros(size, dtype=torch.long, device=device)
        self.logits = torch.zeros(size, classes)  # warning: TV311
        self.filled = 0

    def add(self, x, y, logits):
        count = min(len(x), len(self.x) - self.filled)
        place = slice(self.filled, self.filled + count)
        self.x[place], self.y[place], self.logits[place] = x[:count], y[:count], logits[:count]
        self.filled += count

    def all(self):
        return self.x[: self.filled], self.y[: self.filled], self.logits[: self.filled]


def weights(count, classes, device):
    if count == 0:
        return torch.ones(classes)  # warning: TV311
    base = torch.ones(classes, device=device)
    ramp = torch.linspace(0, 1, classes, device=device)
    shift = torch.full((classes,), 0.1)  # warning: TV311
    return base + ramp / count + shift * ramp


device = torch.device("cpu")
model = nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
buffer = Buffer(64, 4, device)
for _ in range(3):
    x, y = torch.randn(16, 8, device=device), torch.randint(0, 4, (16,), device=device)
    optimizer.zero_grad()
    out = model(x)
    loss = F.cross_entropy(out, y, weight=weights(buffer.filled, 4, device))
    if buffer.filled:
        old, _, logits = buffer.all()
        loss = loss + F.mse_loss(model(old), logits)
    loss.backward()
    optimizer.step()
    buffer.add(x, y, out.detach())
