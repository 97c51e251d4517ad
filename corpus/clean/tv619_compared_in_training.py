"""Outputs in training mode that are compared, and are wanted so: each is trained on, or made on purpose."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 5))
optimizer = torch.optim.Adam(model.parameters())


def update(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for epoch in range(3):
    x = torch.randn(4, 3, requires_grad=True)
    y = torch.randint(0, 5, (4,))
    # An attack on the input.
    (gradient,) = torch.autograd.grad(F.cross_entropy(model(x), y), x)
    out = model(x + 0.1 * gradient.sign())
    update(F.cross_entropy(out, y))
    print((out.argmax(1) == y).float().mean())
    # Samples that the model gets right already weigh nothing.
    with torch.no_grad():
        guess = model(x).argmax(1)
    wrong = guess != y
    update((F.cross_entropy(model(x), y, reduction="none") * wrong).sum())
    # Several losses, one backward.
    losses = [F.cross_entropy(model(x), y) for _ in range(3)]
    update(torch.stack(losses).mean())
    total = 0.0
    for _ in range(3):
        total = total + F.cross_entropy(model(x), y)
    update(total)


def run(train):
    model.train(train)
    x, y = torch.randn(4, 3), torch.randint(0, 5, (4,))
    loss = F.cross_entropy(model(x), y)
    if train:
        update(loss)
    return loss.item()


run(True)
run(False)

# Monte Carlo dropout.
model.train()
votes = torch.stack([model(torch.randn(4, 3)).softmax(-1) for _ in range(5)]).mean(0)
print((votes.argmax(1) == torch.zeros(4)).sum())
