"""Two networks with an optimizer each, of which one learns nothing from the other."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 6)), batch_size=16, shuffle=True)


def build():
    forger, judge = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    forging = torch.optim.Adam(forger.parameters(), lr=1e-3)
    judging = torch.optim.Adam(judge.parameters(), lr=1e-3)
    return forger, judge, forging, judging


def judged(judge, real, fake):
    yes, no = judge(real), judge(fake)
    return F.softplus(-yes).mean() + F.softplus(no).mean()


def play():
    forger, judge, forging, judging = build()
    for (real,) in loader:
        fake = forger(torch.randn(len(real), 4))
        judging.zero_grad()
        judged(judge, real, fake.detach()).backward()
        judging.step()

        forging.zero_grad()
        F.softplus(-judge(fake.detach())).mean().backward()  # warning: TV604
        forging.step()


def play_with_targets():
    forger, judge, forging, judging = build()
    for (real,) in loader:
        fake = forger(real[:, :4])
        judging.zero_grad()
        judged(judge, real, fake.detach()).backward()
        judging.step()

        forging.zero_grad()
        score = judge(fake.detach())  # warning: TV604
        loss = 0.1 * F.softplus(-score).mean()
        loss += F.l1_loss(fake, real)
        loss.backward()
        forging.step()


play()
play_with_targets()
