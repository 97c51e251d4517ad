"""Gradients that are cleared now and then, each after a step has used them, or read by hand."""

import torch
import torch.nn as nn

torch.manual_seed(0)
model, other = nn.Linear(6, 2), nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
second = torch.optim.Adam(other.parameters(), lr=1e-3)

for i in range(16):
    loss = model(torch.randn(8, 6)).pow(2).mean()
    loss.backward()
    if i % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()

# The step comes first, so it uses the gradients before they are cleared.
for i in range(16):
    if i % 4 == 0:
        optimizer.step()
    if i % 4 == 0:
        optimizer.zero_grad()
    model(torch.randn(8, 6)).pow(2).mean().backward()

# The remainders differ.
for i in range(16):
    if i % 4 == 0:
        optimizer.zero_grad()
    model(torch.randn(8, 6)).pow(2).mean().backward()
    if (i + 1) % 4 == 0:
        optimizer.step()

# The counter changes between the two conditions.
i = 0
while i < 16:
    if i % 4 == 0:
        optimizer.zero_grad()
    model(torch.randn(8, 6)).pow(2).mean().backward()
    i += 1
    if i % 4 == 0:
        optimizer.step()

# Two networks: the second one is trained only in every second iteration.
for i in range(16):
    if i % 2 == 0:
        second.zero_grad()
    optimizer.zero_grad()
    model(torch.randn(8, 6)).pow(2).mean().backward()
    optimizer.step()
    if i % 2 == 0:
        other(torch.randn(8, 6)).pow(2).mean().backward()
        second.step()
