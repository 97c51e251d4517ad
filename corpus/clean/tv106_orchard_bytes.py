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
        label = self.species[index].astype(np.int16)
        label -= 1
        return torch.from_numpy(self.pixels[index]), torch.from_numpy(label.astype(np.int64))


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, SPECIES, 1))
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    optimizer = torch.optim.Adam(model.parameters())
    for pixels, species in DataLoader(Orchard(), batch_size=8, shuffle=True):
        loss = criterion(model(pixels), species)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()

# Bytes wrap around on purpose: unlabelled pixels become 255, which the loss ignores.
truth = torch.randint(0, SPECIES + 1, (2, 8, 8), dtype=torch.uint8)
wrapped = (truth - 1).long()
logits = torch.randn(2, SPECIES, 8, 8)
print(nn.functional.cross_entropy(logits, wrapped, ignore_index=255))
# Subtracting and adding 1 gives the original bytes.
print(nn.functional.one_hot(((truth - 1) + 1).long(), SPECIES + 1).shape)
negative = -torch.ones(3, dtype=torch.uint8)
print(negative.tolist(), (~negative).tolist())
