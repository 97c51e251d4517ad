"""The settings and the pictures of a small autoencoder."""
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn as nn


@dataclass
class Settings:
    width: int
    kind: Literal["mean"] = "mean"
    verbose: bool = False


def decode(model, z):
    return torch.sigmoid(model.decoder(z))


class AutoEncoder(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.encoder = nn.Linear(16, settings.width)
        self.decoder = nn.Linear(settings.width, 16)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def pictures(model, x, decoded=True):
    z = model.encoder(x)
    return decode(model, z) if decoded else z


def halves(x, decode=None):
    """A function may replace the default."""
    return decode(x[:2]) if decode else x[:2]


def scaled(x, decode=1):
    decode = torch.nn.Sigmoid() if decode else torch.nn.Identity()
    return decode(x)


def main():
    model = AutoEncoder(Settings(8))
    x = torch.rand(4, 16)
    print(model(x).shape, pictures(model, x).shape, halves(x).shape, scaled(x).shape)
    print(halves(x, decode=torch.exp).shape)


if __name__ == "__main__":
    main()
