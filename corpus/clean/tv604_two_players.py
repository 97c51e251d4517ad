"""Networks with an optimizer each, and gradients that are cut on purpose."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 6)), batch_size=16, shuffle=True)


def play():
    forger, judge = nn.Linear(4, 6), nn.Linear(6, 1)
    forging = torch.optim.Adam(forger.parameters(), lr=1e-3)
    judging = torch.optim.Adam(judge.parameters(), lr=1e-3)
    for (real,) in loader:
        fake = forger(torch.randn(len(real), 4))
        judging.zero_grad()
        (F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()).backward()
        judging.step()
        forging.zero_grad()
        F.softplus(-judge(fake)).mean().backward()
        forging.step()


def one_backward_for_both(first):
    """The decoder learns from codes that it cannot change; both are stepped, in either order."""
    encoder, decoder = nn.Linear(6, 3), nn.Linear(3, 6)
    encoding = torch.optim.SGD(encoder.parameters(), lr=0.01)
    decoding = torch.optim.SGD(decoder.parameters(), lr=0.01)
    for (x,) in loader:
        encoding.zero_grad()
        decoding.zero_grad()
        code = encoder(x)
        loss = F.mse_loss(decoder(code.detach()), x) + code.pow(2).mean()
        loss.backward()
        for optimizer in (encoding, decoding) if first else (decoding, encoding):
            optimizer.step()


def in_line():
    encoder, decoder = nn.Linear(6, 3), nn.Linear(3, 6)
    encoding = torch.optim.SGD(encoder.parameters(), lr=0.01)
    decoding = torch.optim.SGD(decoder.parameters(), lr=0.01)
    for (x,) in loader:
        decoding.zero_grad()
        encoding.zero_grad()
        code = encoder(x)
        (F.mse_loss(decoder(code.detach()), x) + code.pow(2).mean()).backward()
        decoding.step()
        encoding.step()


def quantized():
    """A codebook that follows the codes, and codes that commit to it."""
    encoder, book, decoder = nn.Linear(6, 3), nn.Embedding(8, 3), nn.Linear(3, 6)
    optimizer = torch.optim.Adam([*encoder.parameters(), *book.parameters(), *decoder.parameters()])
    for (x,) in loader:
        code = encoder(x)
        near = book(torch.cdist(code, book.weight).argmin(1))
        through = code + (near - code).detach()
        loss = F.mse_loss(decoder(through), x) + F.mse_loss(near, code.detach()) + 0.25 * F.mse_loss(code, near.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def actor_and_critic():
    actor, critic = nn.Linear(6, 2), nn.Linear(6, 1)
    acting = torch.optim.Adam(actor.parameters())
    criticising = torch.optim.Adam(critic.parameters())
    for (x,) in loader:
        value = critic(x).squeeze(1)
        gained = x.sum(1) - value
        choice = torch.distributions.Categorical(logits=actor(x))
        loss = -(choice.log_prob(choice.sample()) * gained.detach()).mean() + gained.pow(2).mean()
        criticising.zero_grad()
        acting.zero_grad()
        loss.backward()
        acting.step()
        criticising.step()


play()
one_backward_for_both(True)
one_backward_for_both(False)
in_line()
quantized()
actor_and_critic()
