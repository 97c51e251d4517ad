import torch
import torch.nn as nn


class DeepMLP(nn.Module):
    def __init__(self, d_in, d_hidden, d_out, depth):
        super().__init__()
        self.first = nn.Linear(d_in, d_hidden)
        self.hidden = nn.ModuleList([nn.Linear(d_hidden, d_hidden) for _ in range(depth)])
        self.last = nn.Linear(d_hidden, d_out)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.last(x)


torch.manual_seed(0)
model = DeepMLP(10, 32, 1, depth=3)
print("parameters:", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.MSELoss()

x = torch.randn(128, 10)
y = x.pow(2).sum(dim=1, keepdim=True)

for epoch in range(20):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
