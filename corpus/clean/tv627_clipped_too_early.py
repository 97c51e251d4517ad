"""Gradients that are clipped when they exist, in loops where the order looks unusual."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def loss_of(model):
    return F.cross_entropy(model(torch.randn(8, 6)), torch.arange(8) % 3)


model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(8):
    optimizer.zero_grad()
    loss_of(model).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

# The step uses the gradients of the iteration before.
optimizer.zero_grad()
for i in range(8):
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    loss_of(model).backward()

# The gradients of several iterations accumulate, and each sum so far is clipped.
optimizer.zero_grad()
for i in range(8):
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    (loss_of(model) / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()

# Clipped before and after.
for i in range(8):
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss_of(model).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

# Clipped by hand.
for i in range(8):
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss_of(model).backward()
    for p in model.parameters():
        p.grad.clamp_(-1, 1)
    optimizer.step()

# Two networks: the optimizer of one is cleared, the gradients of the other are clipped.
other = nn.Linear(6, 3)
second = torch.optim.SGD(other.parameters(), lr=0.1)
for i in range(8):
    second.zero_grad()
    loss_of(other).backward()
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(other.parameters(), 1.0)
    second.step()
    loss_of(model).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

# The clipped tensor is not a parameter of the optimizer, so `zero_grad()` does not clear its gradient.
noise = torch.zeros(8, 6, requires_grad=True)
for i in range(8):
    F.cross_entropy(model(torch.randn(8, 6) + noise), torch.arange(8) % 3).backward()
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_([noise], 1.0)
    with torch.no_grad():
        noise -= 0.1 * noise.grad
        noise.grad = None
    loss_of(model).backward()
    optimizer.step()

# One of the clipped tensors is not a parameter of the optimizer, and keeps its gradient.
for i in range(8):
    F.cross_entropy(model(torch.randn(8, 6) + noise), torch.arange(8) % 3).backward()
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_([noise, *model.parameters()], 1.0)
    loss_of(model).backward()
    optimizer.step()
print(noise.grad.norm())

# Two losses: the gradients of the first one are clipped separately.
for i in range(8):
    optimizer.zero_grad()
    loss_of(model).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss_of(model).backward()
    optimizer.step()

# The program clears the gradients of the module, not of the optimizer.
for i in range(8):
    model.zero_grad()
    loss_of(model).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


# Only with a flag, gradients are cleared and clipped before `backward()`.
single = nn.Linear(6, 3)
once = torch.optim.SGD(single.parameters(), lr=0.1)
if "--clip" in sys.argv:
    once.zero_grad()
    nn.utils.clip_grad_norm_(single.parameters(), 1.0)
loss_of(single).backward()
once.step()


# Code that torchvet cannot see computes the gradients.
def train(engine, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(8):
        optimizer.zero_grad()
        engine.compute_gradients(model)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        F.l1_loss(model(torch.randn(8, 6)), torch.zeros(8, 3)).backward()
        optimizer.step()


class Engine:
    def compute_gradients(self, model):
        loss_of(model).backward()


train(Engine(), nn.Linear(6, 3))
