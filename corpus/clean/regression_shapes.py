"""Several honest ways to line up predictions and targets."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(1)
X = rng.normal(size=(80, 5))
Y = X @ np.array([1.0, 0.5, 0.0, -1.0, 2.0])

ds = TensorDataset(torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(Y, dtype=torch.float32))
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
double_net = nn.Linear(5, 1).double()
opt = torch.optim.Adam([*net.parameters(), *double_net.parameters()], lr=1e-2)
mse, l1 = nn.MSELoss(), nn.L1Loss()

for xb, yb in DataLoader(ds, batch_size=16, shuffle=True):
    pred = net(xb)
    a = mse(pred, yb.unsqueeze(1))
    b = l1(pred.view(-1), yb)
    c = ((pred[:, 0] - yb) ** 2).mean()
    d = mse(double_net(xb.double()).squeeze(-1), yb.double()).float()
    spread = pred - yb  # pairwise differences on purpose: [B, 1] - [B]
    loss = a + b + c + d + 0.0 * spread.abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
