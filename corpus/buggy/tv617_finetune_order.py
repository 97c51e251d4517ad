"""A pretrained network whose head is exchanged when its optimizer exists already."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 16), nn.ReLU())
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(self.features(x))


def build(classes):
    model = Backbone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.fc = nn.Linear(16, classes)  # error: TV617
    return model, optimizer


def train(model, optimizer, steps):
    for step in range(steps):
        loss = F.cross_entropy(model(torch.randn(4, 12)), torch.randint(5, (4,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


model, optimizer = build(5)
train(model, optimizer, 3)
