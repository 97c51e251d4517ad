"""Fruit trees in aerial tiles: in the annotations 0 is unlabelled, 1 to 12 are the species."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SPECIES = 12


class Orchard(Dataset):
    def __init__(self, tiles=24, size=16):
        rng = np.random.default_rng(4)
        self.pixels = rng.random((tiles, 3, size, size), dtype=np.float32)
        self.species = rng.integers(0, SPECIES + 1, (tiles, size, size), dtype=np.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        label = self.species[index]
        label -= 1
        return torch.from_numpy(self.pixels[index]), torch.from_numpy(label.astype(np.int64))


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, SPECIES, 1))
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    optimizer = torch.optim.Adam(model.parameters())
    for pixels, species in DataLoader(Orchard(), batch_size=8, shuffle=True):
        loss = criterion(model(pixels), species)  # error: TV106
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
