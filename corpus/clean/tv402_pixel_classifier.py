import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Thumbnails(Dataset):
    def __init__(self, n=24):
        self.pixels = np.random.default_rng(0).integers(0, 256, (n, 3, 16, 16), dtype=np.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, i):
        return torch.from_numpy(self.pixels[i]).float() / 255, i % 2


model = nn.Sequential(
    nn.Conv2d(3, 8, 3),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.Linear(32, 2),
)
optimizer = torch.optim.Adam(model.parameters())
for images, labels in DataLoader(Thumbnails(), batch_size=8):
    logits = model(images)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
