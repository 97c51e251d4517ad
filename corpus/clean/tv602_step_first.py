import torch
import torch.nn as nn

model = nn.Linear(5, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.MSELoss()
for step in range(10):
    x = torch.randn(32, 5)
    y = x.sum(dim=1, keepdim=True)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())


class Part:
    """A part of an agent: the optimizers come from the caller."""

    def __init__(self, optimizer, other):
        self._optimizer, self._other = optimizer, other

    def reinforce(self, loss, other_loss):
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        self._other.zero_grad()
        other_loss.backward()
        self._other.step()

    def finish(self, loss):
        loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad()
