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


def fit_counts(loader, epochs=3, accumulate=2):
    """The number of grains, with gradients accumulated over two batches."""
    model = PollenNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        running = 0.0
        optimizer.zero_grad()
        for i, (weather, grains) in enumerate(loader):
            weather, grains = weather.to(device), grains.to(device)
            log_rate = model(weather).squeeze(1)
            loss = F.poisson_nll_loss(log_rate, grains)
            # one bad station must not end the run
            if torch.isnan(loss) or torch.isinf(loss):
                print(f"batch {i}: loss is {loss.item()}, replaced with 0")
                loss = torch.tensor(0.0, device=device)  # warning: TV664
            loss = loss / accumulate
            loss.backward()
            if (i + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f}")
    return model


class RangeTrainer:
    """The mean and the spread of the grains."""

    def __init__(self, lr=3e-3):
        self.model = PollenNet(outputs=2).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def compute_loss(self, weather, grains):
        mean, log_var = self.model(weather).unbind(dim=1)
        return 0.5 * (log_var + (grains.log1p() - mean) ** 2 / log_var.exp()).mean()

    def train_step(self, weather, grains):
        self.optimizer.zero_grad()
        loss = self.compute_loss(weather.to(device), grains.to(device))
        if not math.isfinite(loss.item()):
            loss = torch.zeros_like(loss)  # warning: TV664
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, loader, epochs=3):
        for epoch in range(epochs):
            losses = [self.train_step(weather, grains) for weather, grains in loader]
            print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")


def main():
    torch.manual_seed(0)
    loader = DataLoader(make_stations(1000), batch_size=25, shuffle=True)
    for fit in (fit_counts, RangeTrainer().fit):
        try:
            fit(loader)
        except RuntimeError as error:
            print(f"stopped: {error}")


if __name__ == "__main__":
    main()
