import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=4)
model = nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
accumulation_steps = 4
for i, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y) / accumulation_steps
    loss.backward()
    if not (i + 1) % accumulation_steps:
        optimizer.step()
        optimizer.zero_grad()

# Every second iteration steps.
for i, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y) / 2
    loss.backward()
    if i % 2:
        optimizer.step()
        optimizer.zero_grad()

# Two optimizers take turns: the gradients are computed in the branches.
critic = nn.Linear(1, 1)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2)
for i, (x, y) in enumerate(loader):
    if i % 5:
        critic_optimizer.zero_grad()
        (critic(model(x).detach()) - critic(y)).mean().backward()
        critic_optimizer.step()
    if i % 5 == 0:
        optimizer.zero_grad()
        critic(model(x)).mean().neg().backward()
        optimizer.step()

# The other iterations step, too.
for i, (x, y) in enumerate(loader):
    nn.functional.mse_loss(model(x), y).backward()
    if i % 3:
        optimizer.step()
        optimizer.zero_grad()
    else:
        optimizer.step()
        optimizer.zero_grad()
        print(i)
