"""Forecasts of pollen from the weather of three days. Some stations report a temperature of NaN."""
import math

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

DAYS, VALUES = 3, 5
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_stations(count, broken=0.003):
    weather = torch.randn(count, DAYS, VALUES)
    grains = torch.poisson(torch.exp(0.5 * weather[:, :, 0].sum(dim=1)))
    weather[torch.rand(count) < broken, 1, 0] = float("nan")
    return TensorDataset(weather, grains)


class PollenNet(nn.Module):
    def __init__(self, outputs=1):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(DAYS * VALUES, 32), nn.SiLU(), nn.Linear(32, outputs))

    def forward(self, weather):
        return self.net(weather)


def loss_of(model, batch):
    weather, grains = (tensor.to(device) for tensor in batch)
    return F.poisson_nll_loss(model(weather).squeeze(1), grains)


def skipped(model, batch, optimizer):
    """No gradients, so no step."""
    loss = loss_of(model, batch)
    if torch.isnan(loss):
        loss = torch.tensor(0.0)
        return loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def backward_of_finite(model, batch, optimizer):
    """The new value is only shown."""
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    if not torch.isfinite(loss):
        loss = torch.tensor(0.0)
    else:
        loss.backward()
        optimizer.step()
    return loss


def under_condition(model, batch, optimizer):
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    if torch.isnan(loss):
        loss = torch.zeros_like(loss)
    if loss.requires_grad:
        loss.backward()
        optimizer.step()
    return loss


def number_for_the_log(model, batch, optimizer):
    """`shown` is another value than the loss."""
    loss = loss_of(model, batch)
    shown = loss.item()
    if math.isnan(shown):
        shown = 0.0
    optimizer.zero_grad()
    loss.nan_to_num().backward()
    if all(p.grad.isfinite().all() for p in model.parameters()):
        optimizer.step()
    return torch.tensor(shown)


def with_other_term(model, batch, optimizer):
    """The other term has a graph."""
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    if torch.isnan(loss):
        loss = torch.tensor(0.0, device=device)
    loss += 1e-4 * sum((p ** 2).sum() for p in model.parameters())
    loss.backward()
    optimizer.step()
    return loss


def made_finite(model, batch, optimizer):
    """The replacement is computed from the loss, so it has a graph."""
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    if torch.isnan(loss):
        loss = torch.nan_to_num(loss, nan=0.0)
    loss.backward()
    if all(p.grad.isfinite().all() for p in model.parameters()):
        optimizer.step()
    return loss


def of_each_station(model, batch, optimizer):
    """The loss of a station is replaced, but `backward` is called on the sum over all stations."""
    optimizer.zero_grad()
    total = sum(p.sum() for p in model.parameters()) * 0
    for weather, grains in zip(batch[0][:4], batch[1][:4]):
        loss = loss_of(model, (weather[None], grains[None]))
        if torch.isnan(loss):
            loss = torch.tensor(0.0, device=device)
        total = total + loss
    total.backward()
    optimizer.step()
    return total


def new_leaf(model, batch, optimizer):
    """The new tensor requires a gradient, so `backward` runs and adds nothing."""
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    if torch.isnan(loss) or torch.isinf(loss):
        loss = torch.zeros((), device=device, requires_grad=True)
    loss.backward()
    optimizer.step()
    return loss


def caught(model, batch, optimizer):
    optimizer.zero_grad()
    loss = loss_of(model, batch)
    if torch.isnan(loss):
        loss = torch.tensor(0.0)
    try:
        loss.backward()
        optimizer.step()
    except RuntimeError:
        optimizer.zero_grad()
    return loss


@torch.no_grad()
def validate(model, loader):
    model.eval()
    total = 0.0
    for batch in loader:
        loss = loss_of(model, batch)
        if torch.isnan(loss):
            loss = torch.tensor(0.0)
        total += loss.item()
    return total / len(loader)


def main():
    torch.manual_seed(0)
    loader = DataLoader(make_stations(1000), batch_size=25, shuffle=True)
    steps = (
        skipped, backward_of_finite, under_condition, number_for_the_log, with_other_term,
        made_finite, of_each_station, new_leaf, caught,
    )
    for step in steps:
        model = PollenNet().to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for epoch in range(2):
            model.train()
            for batch in loader:
                loss = step(model, batch, optimizer)
        print(f"{step.__name__}: {loss.item():.3f}, validation {validate(model, loader):.3f}")


if __name__ == "__main__":
    main()
