import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    h = torch.sigmoid(net(torch.randn(4, 3)))
    h = h + 1.0
    loss = h.log().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
