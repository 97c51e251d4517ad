"""A Double DQN that chooses where a field camera looks."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

PLACES = 5


class Marsh:
    """Birds appear at a place that moves by at most one step."""

    def __init__(self, seed=0):
        self.random = random.Random(seed)
        self.place = 2

    def step(self, action):
        self.place = min(max(self.place + self.random.choice([-1, 0, 1]), 0), PLACES - 1)
        state = torch.zeros(PLACES)
        state[self.place] = 1.0
        return state, float(action == self.place)


class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(PLACES, hidden), nn.Linear(hidden, PLACES)])

    def forward(self, x):
        return self.layers[1](F.relu(self.layers[0](x)))


class Agent:
    def __init__(self, policy, target, eps, hidden=16):
        self.policy = policy
        self.target = target
        self.eps = eps
        self.hidden = hidden
        self.target.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)

    def act(self, state):
        if random.random() < self.eps:
            return random.randrange(PLACES)
        return self.policy(state).argmax().item()


def total_rewards(episodes=4):
    net = Net()
    agent = Agent(net, Net(), 0.1)
    rewards = []
    for _ in range(episodes):
        marsh, total = Marsh(), 0.0
        state, _ = marsh.step(0)
        for _ in range(20):
            action = agent.act(state)
            following, reward = marsh.step(action)
            with torch.no_grad():
                wanted = reward + 0.9 * agent.target(following).max()
            loss = F.mse_loss(agent.policy(state)[action], wanted)
            agent.optimizer.zero_grad()
            loss.backward()
            agent.optimizer.step()
            state, total = following, total + reward
        rewards.append(total)
    return rewards


def smoothed(values, window=2):
    out = []
    for at in range(len(values)):
        out.append(values[at])
    return out


def wide_agent(net, copy, eps):
    return Agent(net, copy, eps, 32)


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    totals = total_rewards()
    print(totals)
    print(smoothed(totals))
