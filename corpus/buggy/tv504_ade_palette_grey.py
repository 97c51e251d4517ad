"""Fine-tune a small FCN on scene masks, which are palette images."""
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

ADE_CLASSES = 150


def make_mask(seed, size=40):
    """A mask as the data set stores it: indices, with a colour for each."""
    rng = np.random.default_rng(seed)
    mask = Image.fromarray(rng.integers(0, ADE_CLASSES, (size, size), dtype=np.uint8), mode="P")
    palette = rng.integers(0, 150, ADE_CLASSES * 3)
    mask.putpalette([int(value) for value in palette])
    return mask


class Scenes(Dataset):
    def __init__(self, n=4):
        self.masks = [make_mask(seed) for seed in range(n)]

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, i):
        mask = self.masks[i].convert("L")  # error: TV504
        target = torch.as_tensor(np.array(mask), dtype=torch.int64)
        return torch.rand(3, 40, 40), target


net = nn.Conv2d(3, ADE_CLASSES, 3, padding=1)
criterion = nn.CrossEntropyLoss(ignore_index=255)
for image, target in DataLoader(Scenes(), batch_size=2):
    loss = criterion(net(image), target)
    loss.backward()
