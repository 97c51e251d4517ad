"""Frames of a video, read with functions that only old versions of torchvision have, as the
requirements ask for."""

import torch
from torch import nn


def frames(path):
    from torchvision.io import read_video

    pictures, _, _ = read_video(path)
    return pictures.permute(0, 3, 1, 2).float() / 255


def train(model, pictures, steps=3):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(pictures), pictures)
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(3)
    print(train(nn.Conv2d(3, 3, 3, padding=1), torch.rand(4, 3, 16, 16)))
