"""Actor-critic for two elevators: transitions are collected in lists and turned into tensors."""
import random
from collections import namedtuple

import torch
import torch.nn as nn

Step = namedtuple("Step", "load floor move reward")
MOVES = 3


def ride(length):
    steps = []
    for _ in range(length):
        floor = random.uniform(0, 10)
        steps.append((random.random(), floor, random.randrange(MOVES), -abs(floor - 5)))
    return steps


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, MOVES))

    def forward(self, state):
        return self.net(state)


def batch_of(history, size):
    rows = random.sample(history, size)
    load, floor, move, reward = zip(*rows)
    state = torch.stack([torch.FloatTensor(load), torch.FloatTensor(floor)], dim=1)
    return state, torch.LongTensor(move), torch.FloatTensor(reward)


random.seed(3)
torch.manual_seed(3)
history = ride(200)
critic = Critic()
adam = torch.optim.Adam(critic.parameters(), lr=3e-3)
for update in range(30):
    state, move, reward = batch_of(history, 16)
    value = critic(state).gather(1, move.view(-1, 1)).squeeze(1)
    loss = (value - reward).pow(2).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()

# The legacy constructors accept sizes, nothing, or an array.
blank = torch.FloatTensor(state.shape)
print(blank.shape, torch.FloatTensor(4, 2).shape, torch.LongTensor(tuple(move.shape)).shape)
print(critic(state).gather(1, torch.FloatTensor(0, 1)).shape, torch.Tensor().numel())
