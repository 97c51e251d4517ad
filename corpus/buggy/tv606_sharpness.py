"""A second step that reuses the loss of the first."""
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(12, 6), torch.arange(12) % 2
for step in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p.add_(0.01 * p.grad.sign())
    optimizer.zero_grad()
    loss.backward()  # error: TV606
    optimizer.step()
