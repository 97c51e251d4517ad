"""Calls whose names are right, but not in this place."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1)

    def forward(self, x):
        return self.up(x)


def resumed(path):
    state = torch.load(path, map_location="cpu")
    net = Denoiser()
    net.load_state_dict(state["model"], map_location="cpu")  # error: TV802
    return net


def restored(path, device):
    net = Denoiser()
    return net.load_state_dict(torch.load(path)).to(device)  # error: TV802


def mirrored():
    return nn.ConvTranspose2d(8, 4, 4, padding_mode="reflect")  # error: TV405


def evaluated(net, x):
    with torch.no_grad:  # error: TV802
        return net(x)


def labels_on(device):
    return torch.LongTensor([0, 2, 1], device="cuda")  # error: TV405


def mean_of(loader):
    total = 0.0
    for image, mask, name in loader:  # error: TV405
        total += image.mean().item()
    return total


pairs = TensorDataset(torch.rand(8, 3, 4, 4), torch.zeros(8, 4, 4))
print(mean_of(DataLoader(pairs, batch_size=4)))
