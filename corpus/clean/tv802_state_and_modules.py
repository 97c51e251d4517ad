"""The same calls, each in its place."""

import io

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1)

    def forward(self, x):
        return self.up(x)


def restored(file, device):
    net = Denoiser()
    state = torch.load(file, map_location="cpu")
    print(net.load_state_dict(state).missing_keys)
    return net.to(device)


def evaluated(net, x):
    with torch.no_grad():
        return net(x)


def mean_of(loader):
    total = 0.0
    for image, mask in loader:
        total += image.mean().item()
    first, *rest = next(iter(loader))
    return total, len(rest), len(first)


def update(totals, values: torch.Tensor):
    # The annotation is wrong: every caller passes a dictionary.
    for name, value in values.items():
        totals[name] = totals.get(name, 0) + value["sum"]
    return totals


file = io.BytesIO()
torch.save(Denoiser().state_dict(), file)
file.seek(0)
print(evaluated(restored(file, "cpu"), torch.rand(1, 8, 4, 4)).shape)
print(torch.tensor([0, 2, 1], device="cpu"), torch.LongTensor([0, 2, 1]), nn.Conv2d(8, 4, 4, padding_mode="reflect"))
pairs = TensorDataset(torch.rand(8, 3, 4, 4), torch.zeros(8, 4, 4))
print(mean_of(DataLoader(pairs, batch_size=4)))
