"""Mixup and CutMix-style soft targets on small images."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

NUM_CLASSES = 10


def mixup(x, y, alpha=0.4):
    lam = float(np.random.beta(alpha, alpha))
    index = torch.randperm(x.size(0), device=x.device)
    mixed = lam * x + (1 - lam) * x[index]
    y1 = F.one_hot(y, NUM_CLASSES).float()
    y2 = y1[index]
    return mixed, lam * y1 + (1 - lam) * y2


def mixup_criterion(criterion, pred, y_a, y_b, lam):
    return lam * criterion(pred, y_a) + (1 - lam) * criterion(pred, y_b)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.rand(60, 3, 16, 16), torch.arange(60) % NUM_CLASSES)
loader = DataLoader(data, batch_size=20, shuffle=True)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, NUM_CLASSES)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        if epoch == 0:
            mixed, soft = mixup(x, y)
            loss = criterion(net(mixed), soft)
        else:
            perm = torch.randperm(len(x), device=device)
            loss = mixup_criterion(criterion, net(0.7 * x + 0.3 * x[perm]), y, y[perm], 0.7)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
