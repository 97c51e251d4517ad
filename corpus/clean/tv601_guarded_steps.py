"""What is done now and then, and put right each time."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 6), torch.arange(96) % 3), batch_size=8, shuffle=True)


def build():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))


def cleared_first(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        if torch.isfinite(nn.utils.clip_grad_norm_(model.parameters(), 1.0)):
            optimizer.step()


def cleared_after(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i, (x, y) in enumerate(loader):
        (F.cross_entropy(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
        if (i + 1) % 4 == 0:
            optimizer.zero_grad()


def cleared_at_its_start(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i, (x, y) in enumerate(loader):
        if i % 4 == 0:
            optimizer.zero_grad()
        (F.cross_entropy(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()


def once_per_epoch(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(loader):
            (F.cross_entropy(model(x), y) / len(loader)).backward()
            if i == len(loader) - 1:
                optimizer.step()


def slower_critic(critic, maker):
    critic_steps = torch.optim.SGD(critic.parameters(), lr=0.01)
    maker_steps = torch.optim.SGD(maker.parameters(), lr=0.01)
    for i, (x, y) in enumerate(loader):
        critic_steps.zero_grad()
        F.cross_entropy(critic(x), y).backward()
        # The critic steps only in every second batch, so that the other network keeps up.
        if i % 2 == 0:
            critic_steps.step()
        maker_steps.zero_grad()
        (F.cross_entropy(maker(x), y) / 2).backward()
        maker_steps.step()


def score(model):
    was = model.training
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train(was)
    return right


def validated(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train()
    for i, (x, y) in enumerate(loader):
        if i % 5 == 0:
            print(i, score(model))
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def validated_in_place(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train()
    for i, (x, y) in enumerate(loader):
        if i % 5 == 0:
            model.eval()
            with torch.no_grad():
                print(F.cross_entropy(model(x), y).item())
        if i % 5 == 0:
            model.train()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def frozen_trunk(trunk, head):
    model = nn.Sequential(trunk, head)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        model.train()
        trunk.eval()
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(sum(F.cross_entropy(model(x), y).item() for x, y in loader))


def scaled(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu")
    for i, (x, y) in enumerate(loader):
        scaler.scale(F.cross_entropy(model(x), y) / 2).backward()
        if (i + 1) % 2 == 0:
            scaler.unscale_(optimizer)
        if (i + 1) % 2 == 0:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if not math.isfinite(norm):
                scaler.update()
                optimizer.zero_grad()
                continue
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


for run in (cleared_first, cleared_after, cleared_at_its_start, once_per_epoch, validated, validated_in_place, scaled):
    run(build())
slower_critic(build(), build())
frozen_trunk(nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.2)), nn.Linear(16, 3))
