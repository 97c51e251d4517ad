"""Actor and critic on a pendulum: a hand-written value loss, and a network that load_state_dict takes away."""
import torch
from torch import nn

STEPS, BATCH = 96, 24


class Critic(nn.Module):
    def __init__(self, observed=3, hidden=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observed, hidden), nn.Tanh())
        self.value = nn.Linear(hidden, 1)

    def forward(self, observation):
        return self.value(self.body(observation))


def discounted(rewards, gamma=0.9):
    returns, total = torch.zeros_like(rewards), 0.0
    for step in reversed(range(len(rewards))):
        total = rewards[step] + gamma * total
        returns[step] = total
    return returns


class Learner:
    def __init__(self, critic):
        self.critic = critic
        self.optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)

    def value_loss(self, observations, returns):
        values = self.critic(observations)
        return 0.5 * (values - returns).pow(2).mean()  # warning: TV122

    def learn(self, observations, returns):
        for chosen in torch.randperm(STEPS).split(BATCH):
            loss = self.value_loss(observations[chosen], returns[chosen])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def main():
    observations = torch.randn(STEPS, 3)
    rewards = -observations.pow(2).sum(1)
    learner = Learner(Critic())
    print(learner.learn(observations, discounted(rewards)))
    torch.save(learner.critic.state_dict(), "critic.pt")
    target = Critic()
    target = target.load_state_dict(torch.load("critic.pt"))  # error: TV623
    print(target)


if __name__ == "__main__":
    main()
