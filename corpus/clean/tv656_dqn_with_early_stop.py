"""A DQN on a small chain, with a held-out loss for early stopping."""
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Agent:
    def __init__(self):
        self.network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.target = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.best_loss = float("inf")
        self.bad_rounds = 0

    def sync(self):
        self.target.load_state_dict(self.network.state_dict())

    def loss(self, state, action, reward, following):
        value = self.network(state).gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.target(following).max(dim=1).values
        return nn.functional.smooth_l1_loss(value, reward + 0.9 * best)

    def is_done(self, loss):
        if loss < self.best_loss:
            self.best_loss = loss
            self.bad_rounds = 0
        else:
            self.bad_rounds += 1
        return self.bad_rounds >= 3


def transitions(count):
    states = torch.rand(count, 4)
    return TensorDataset(states, torch.randint(0, 2, (count,)), torch.rand(count), torch.rand(count, 4))


def evaluate(agent, val_loader):
    total = 0.0
    with torch.no_grad():
        for batch in val_loader:
            total += agent.loss(*batch).item()
    return total / len(val_loader)


class Patience:
    """Counts all rounds, and stops at the limit."""

    def __init__(self, limit):
        self.limit, self.best, self.count = limit, float("inf"), 0

    def update(self, loss):
        if loss < self.best:
            self.best, self.count = loss, 0
        else:
            self.count += 1
        return self.count >= self.limit


def fit(model, loader):
    """The patience is reset by another statement of the loop."""
    best, wait = float("inf"), 0
    for epoch in range(3):
        total = sum(model(x).mean().item() for x, *_ in loader)
        improved = total < best
        if improved:
            best = total
        else:
            wait += 1
        wait = 0 if improved else wait
        if wait > 2:
            break
    average = nn.Linear(4, 2)
    average.load_state_dict(model.state_dict())
    model = average
    return model, total / len(loader)


def main():
    random.seed(0)
    fit(nn.Linear(4, 2), DataLoader(transitions(16), batch_size=8))
    agent = Agent()
    patience = Patience(3)
    train_loader = DataLoader(transitions(64), batch_size=8, shuffle=True)
    val_loader = DataLoader(transitions(16), batch_size=8)
    for epoch in range(10):
        train_loss = 0.0
        for batch in train_loader:
            agent.optimizer.zero_grad()
            loss = agent.loss(*batch)
            loss.backward()
            agent.optimizer.step()
            train_loss += loss.item()
        agent.sync()
        print(epoch, train_loss / len(train_loader))
        patience.update(train_loss)
        if agent.is_done(evaluate(agent, val_loader)):
            break


if __name__ == "__main__":
    main()
