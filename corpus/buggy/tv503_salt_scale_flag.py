"""Salt bodies in seismic images. One function prepares pictures and masks alike."""
import cv2
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIZE = 32


def draw(seed):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (SIZE, SIZE), dtype=np.uint8)
    mask = np.zeros((SIZE, SIZE), dtype=np.uint8)
    cv2.circle(mask, (16, 16), 4 + seed, 255, -1)
    return image, mask


def prepare(img, mask=False):
    if mask:
        return torch.from_numpy(img).long()
    img = img.astype(np.float32) / 255.0
    return torch.from_numpy(img).unsqueeze(0)


class Salt(Dataset):
    def __init__(self, n):
        self.samples = [draw(seed) for seed in range(n)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, k):
        image, mask = self.samples[k]
        return prepare(image), prepare(mask, mask=True)


model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
loss_fn = nn.CrossEntropyLoss()
for image, mask in DataLoader(Salt(4), batch_size=2):
    loss = loss_fn(model(image), mask)  # error: TV503
    loss.backward()
