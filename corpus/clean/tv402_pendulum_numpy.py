import numpy as np
import torch
import torch.nn as nn

t = np.linspace(0, 10, 200)
angle = np.exp(-0.1 * t) * np.cos(2 * t)

inputs = torch.from_numpy(t).float().reshape(-1, 1)
targets = torch.from_numpy(angle).float().reshape(-1, 1)


class PINN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, t):
        return self.net(t)


model = PINN()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=5)
loss_fn = nn.MSELoss()


def closure():
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    return loss


for i in range(5):
    loss = optimizer.step(closure)
    print(i, loss.item())
