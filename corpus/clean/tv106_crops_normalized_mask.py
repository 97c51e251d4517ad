"""Field boundaries: the same pipeline for the tile and for its label."""
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

CLASS_NAMES = ["soil", "wheat", "maize", "rape", "beet"]


class Fields(Dataset):
    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform

    def __len__(self):
        return 4

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        tile = Image.fromarray(rng.integers(0, 256, (32, 32), dtype=np.uint8))
        label = Image.fromarray(rng.integers(0, len(CLASS_NAMES), (32, 32), dtype=np.uint8))
        if self.transform is not None:
            tile = self.transform(tile)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return tile, label.squeeze(0).long()


pipeline = transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5], [0.5])])
data = Fields(transform=pipeline, target_transform=transforms.PILToTensor())
model = nn.Conv2d(1, len(CLASS_NAMES), 3, padding=1)
criterion = nn.CrossEntropyLoss()
for tile, label in DataLoader(data, batch_size=2):
    loss = criterion(model(tile), label)
    loss.backward()
