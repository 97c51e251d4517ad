import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
model, critic = nn.Linear(4, 1), nn.Linear(1, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        critic_optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2, momentum=0.9)  # warning: TV630
        critic_optimizer.zero_grad()
        (critic(model(x).detach()) - critic(y)).mean().backward()
        critic_optimizer.step()

        optimizer.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        optimizer.step()
    print(epoch)
