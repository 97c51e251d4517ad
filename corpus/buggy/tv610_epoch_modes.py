"""A trainer whose validation leaves its traces."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train_loader = DataLoader(TensorDataset(torch.randn(32, 6), torch.arange(32) % 3), batch_size=8, shuffle=True)
valid_loader = DataLoader(TensorDataset(torch.randn(16, 6), torch.arange(16) % 3), batch_size=8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        x = F.relu(self.norm(self.hidden(x)))
        x = F.dropout(x, 0.2)  # warning: TV612
        return self.out(x)


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.5)

    def fit(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            self.scheduler.step()  # warning: TV609
            print(epoch, self.train_epoch(), self.validate())

    def train_epoch(self):
        total = 0.0
        for x, y in train_loader:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # error: TV611
            total += loss.item()
        return total

    def validate(self):
        self.model.eval()  # error: TV610
        right = 0
        for x, y in valid_loader:
            right += (self.model(x).argmax(1) == y).sum().item()  # info: TV607
        return right


Trainer(Net()).fit(epochs=3)
