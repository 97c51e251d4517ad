"""Heads that some optimizer has: it was made later, or given them."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import resnet18


def train(model, *optimizers):
    loss = F.cross_entropy(model(torch.randn(4, 3, 64, 64)), torch.randint(0, 4, (4,)))
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


torch.manual_seed(0)
model = resnet18()
model.fc = nn.Linear(512, 4)
train(model, torch.optim.SGD(model.parameters(), lr=0.01))

model = resnet18()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
model.fc = nn.Linear(512, 4)
optimizer.add_param_group({"params": model.fc.parameters()})
train(model, optimizer)

model = resnet18()
body = torch.optim.SGD(model.parameters(), lr=0.01)
model.fc = nn.Linear(512, 4)
train(model, body, torch.optim.SGD(model.fc.parameters(), lr=0.1))

# Another model's head.
teacher, student = resnet18(), resnet18()
optimizer = torch.optim.SGD(teacher.parameters(), lr=0.01)
student.fc = nn.Linear(512, 4)
loss = teacher(torch.randn(4, 3, 64, 64)).pow(2).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
