"""An optimizer in a wrapper that a GradScaler steps, and dropout behind `self.training`."""

import torch
import torch.nn as nn
import torch.nn.functional as F

device = "cuda" if torch.cuda.is_available() else "cpu"


class Warmup:
    def __init__(self, optimizer, steps):
        self.optimizer = optimizer
        self.steps = steps
        self.done = 0

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.done += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, self.done / self.steps)
        self.optimizer.step()


class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.first = nn.Linear(4, 8)
        self.last = nn.Linear(8, 1)

    def forward(self, x):
        x = F.relu(self.first(x))
        if self.training and self.rate > 0:
            x = F.dropout(x, p=self.rate)
        return self.last(x)


model = Net(0.1).to(device)
optimizer = Warmup(torch.optim.Adam(model.parameters()), steps=5)
scaler = torch.amp.GradScaler()
for _ in range(3):
    optimizer.zero_grad()
    x = torch.randn(16, 4, device=device)
    loss = F.mse_loss(model(x), x.sum(dim=1, keepdim=True))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

model.eval()
with torch.no_grad():
    print(model(torch.randn(2, 4, device=device)))
