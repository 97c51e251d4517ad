"""Gradients that are clipped when `zero_grad()` has just cleared them."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(32, 6), torch.arange(32) % 3), batch_size=8, shuffle=True)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)  # error: TV627
        loss.backward()
        self.optimizer.step()
        return loss.item()


trainer = Trainer(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)))
for epoch in range(2):
    print(epoch, sum(trainer.step(x, y) for x, y in loader))

# The gradients are cleared at the end of the previous iteration.
model = nn.LSTM(6, 8)
head = nn.Linear(8, 3)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
for i in range(8):
    out, _ = model(torch.randn(5, 4, 6))
    loss = F.cross_entropy(head(out[-1]), torch.arange(4) % 3)
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)  # error: TV627
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

# A scaled loss.
net = nn.Linear(6, 3)
adam = torch.optim.AdamW(net.parameters())
scaler = torch.amp.GradScaler("cpu")
for i in range(4):
    adam.zero_grad()
    loss = F.cross_entropy(net(torch.randn(8, 6)), torch.arange(8) % 3)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # error: TV627
    scaler.scale(loss).backward()
    scaler.step(adam)
    scaler.update()


def train_critic(critic, optimizer, loss):
    optimizer.zero_grad()
    torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)  # warning: TV627
    loss.backward()
    optimizer.step()
