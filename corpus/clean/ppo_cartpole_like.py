import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self, obs=4, actions=2):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, actions), nn.Softmax(dim=-1))
        self.critic = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, 1))

    def act(self, state):
        dist = Categorical(self.actor(state))
        action = dist.sample()
        return action, dist.log_prob(action)

    def evaluate(self, states, actions):
        dist = Categorical(self.actor(states))
        return dist.log_prob(actions), self.critic(states).squeeze(-1), dist.entropy()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
policy = ActorCritic().to(device)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
mse = nn.MSELoss()

with torch.no_grad():
    states = torch.randn(40, 4, device=device)
    actions, old_logprobs = policy.act(states)
rewards = torch.randn(40, device=device)

for k in range(3):
    logprobs, values, entropy = policy.evaluate(states, actions)
    ratio = torch.exp(logprobs - old_logprobs)
    advantage = rewards - values.detach()
    surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    loss = -surrogate + 0.5 * mse(values, rewards) - 0.01 * entropy
    optimizer.zero_grad()
    loss.mean().backward()
    optimizer.step()
    print(k, loss.mean().item())
