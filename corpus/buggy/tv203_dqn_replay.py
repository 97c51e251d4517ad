"""DQN update on a hand-made replay buffer (left, stay, right)."""
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
GAMMA = 0.99
ACTIONS = {"left": 1, "stay": 2, "right": 3}


class DQN(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.l1 = nn.Linear(n_obs, 32)
        self.l2 = nn.Linear(32, n_actions)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


random.seed(0)
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
policy_net = DQN(4, len(ACTIONS)).to(device)
target_net = DQN(4, len(ACTIONS)).to(device)
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-4, amsgrad=True)

memory = deque(maxlen=100)
for i in range(60):
    name = list(ACTIONS)[i % 3]
    memory.append(Transition(torch.randn(4), ACTIONS[name], torch.randn(4), float(i % 2)))


def optimize(batch):
    states = torch.stack([t.state for t in batch]).to(device)
    actions = torch.tensor([t.action for t in batch], device=device).unsqueeze(1)
    next_states = torch.stack([t.next_state for t in batch]).to(device)
    rewards = torch.tensor([t.reward for t in batch], device=device)

    q = policy_net(states).gather(1, actions).squeeze(1)  # error: TV203
    with torch.no_grad():
        best = target_net(next_states).max(1).values
    loss = F.smooth_l1_loss(q, rewards + GAMMA * best)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


for step in range(3):
    print(step, optimize(list(memory)))
