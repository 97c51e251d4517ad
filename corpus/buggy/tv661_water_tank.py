"""Double Q-learning for the valve of a water tank: an episode ends when the tank overflows or is empty."""
import random
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

GAMMA = 0.95


class Tank:
    """The level changes by chance; the valve is closed (0), half open (1) or open (2)."""

    def reset(self):
        self.level, self.rain = 0.5, random.random()
        return [self.level, self.rain]

    def step(self, valve):
        self.level += 0.2 * self.rain - 0.1 * valve
        self.rain = random.random()
        lost = not 0.0 < self.level < 1.0
        return [self.level, self.rain], -5.0 if lost else 1.0, lost


def make_network():
    return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3))


class Learner:
    def __init__(self):
        self.network, self.slow = make_network(), make_network()
        self.slow.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.memory = deque(maxlen=2000)

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(3)
        with torch.no_grad():
            return self.network(torch.tensor(state)).argmax().item()

    def learn(self, batch_size=32):
        columns = zip(*random.sample(self.memory, batch_size))
        states, valves, rewards, next_states, dones = (torch.tensor(column) for column in columns)
        values = self.network(states).gather(1, valves[:, None])[:, 0]
        with torch.no_grad():
            best = self.network(next_states).argmax(dim=1, keepdim=True)
            next_values = self.slow(next_states).gather(1, best)[:, 0]
        expected = rewards + GAMMA * next_values  # warning: TV661
        loss = F.smooth_l1_loss(values, expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    tank, learner = Tank(), Learner()
    for episode in range(40):
        state, loss = tank.reset(), 0.0
        for minute in range(30):
            valve = learner.act(state, epsilon=max(0.1, 1 - episode / 30))
            next_state, reward, lost = tank.step(valve)
            learner.memory.append((state, valve, reward, next_state, float(lost)))
            state = next_state
            if len(learner.memory) >= 64:
                loss = learner.learn()
            if lost:
                break
        if episode % 5 == 0:
            learner.slow.load_state_dict(learner.network.state_dict())
            print(episode, minute + 1, loss)


if __name__ == "__main__":
    main()
