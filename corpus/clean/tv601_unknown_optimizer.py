"""Optimizers that are not known here: their gradients are cleared in the loop, or elsewhere on purpose."""
import torch
import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def once(model, batches, optimizer):
    """Gradients of several batches, for one step."""
    for x, y in batches:
        F.cross_entropy(model(x), y).backward()
    optimizer.step()


def cleared_by_hand(model, loader, optimizer):
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        for parameter in model.parameters():
            parameter.grad = None


def fresh(build, loader):
    for x, y in loader:
        model = build()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def scheduled(model, loader, step_optimizer, scheduler):
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        step_optimizer(model)
        scheduler.step()
