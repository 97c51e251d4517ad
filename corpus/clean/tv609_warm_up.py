"""The optimizer steps before the scheduler, after a warm-up of 128 steps without it."""

import random
import torch
from torch import nn

net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9999)
steps = 0
order = []
for episode in range(10):
    while random.random() < 0.99:
        steps += 1
        if steps >= 128:
            optimizer.zero_grad()
            net(torch.ones(8, 4)).pow(2).mean().backward()
            optimizer.step()
            order.append("optimizer")
        scheduler.step()
        order.append("scheduler")
print(order[:3], order[126:132], order[-2:])
