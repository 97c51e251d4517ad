"""Aligns pictures of stars with a catalogue and measures their brightness."""
import numpy as np
import torch
import torch.nn as nn


def instrument(kind, gain):
    return kind


def camera(kind):
    return kind


INSTRUMENTS = {"ccd": instrument, "phone": camera}


def read(name):
    return INSTRUMENTS[name]("raw", 2.0)  # warning: TV802


def picture(seed):
    rng = np.random.default_rng(seed)
    return rng.random((16, 16, 3))


def brightness(pictures):
    weights = np.linspace(0.5, 1.0, 16)
    light = pictures.mean(dim=(2, 3))
    return weights[:3] * light  # error: TV822


def main():
    flipped = picture(0)[:, ::-1]
    first = torch.from_numpy(picture(1).transpose(2, 0, 1)).float()
    second = torch.from_numpy(flipped.copy().transpose(2, 0, 1)).float()
    batch = torch.stack([first, second])
    net = nn.Conv2d(3, 4, 3)
    print(net(batch).shape)
    print(brightness(batch))


def stack(count=3):
    return [torch.from_numpy(picture(seed)[::-1]) for seed in range(count)]  # error: TV405


if __name__ == "__main__":
    main()
