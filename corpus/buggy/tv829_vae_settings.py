"""The settings and the pictures of a small autoencoder."""
import torch
import torch.nn as nn


class Settings:
    width = 8
    verbose: False  # warning: TV829


def decode(model, z):
    return torch.sigmoid(model.decoder(z))


class AutoEncoder(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.encoder = nn.Linear(16, settings.width)
        self.decoder = nn.Linear(settings.width, 16)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def pictures(model, x, decode=True):
    z = model.encoder(x)
    if decode:
        return decode(model, z)  # warning: TV828
    return z


def main():
    model = AutoEncoder(Settings())
    x = torch.rand(4, 16)
    print(model(x).shape, decode(model, model.encoder(x)).shape)
    print(pictures(model, x, decode=False).shape)


if __name__ == "__main__":
    main()
