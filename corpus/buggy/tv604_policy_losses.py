"""Losses that lost the way back, one after the other."""
import numpy as np
import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.body(x)).softmax(dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters())


def surrogate(states, rewards):
    probabilities = policy(states).detach().numpy()
    return -np.mean(np.log(probabilities[:, 0]) * rewards)


for episode in range(2):
    states, rewards = torch.randn(8, 4), np.ones(8, dtype=np.float32)
    loss = torch.tensor(surrogate(states, rewards), requires_grad=True)
    optimizer.zero_grad()
    loss.backward()  # error: TV604
    optimizer.step()

targets = policy(torch.randn(8, 4)).argmax(dim=-1)
for episode in range(2):
    chosen = policy(torch.randn(8, 4)).max(dim=-1).indices
    loss = (chosen != targets).float().mean()
    optimizer.zero_grad()
    loss.backward()  # error: TV604
    optimizer.step()
