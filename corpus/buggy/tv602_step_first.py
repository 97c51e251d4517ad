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
    optimizer.step()
    loss.backward()  # error: TV602
    print(step, loss.item())
