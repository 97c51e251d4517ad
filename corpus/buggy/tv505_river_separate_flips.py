"""Rivers from above: augmentation in the usual torchvision pipelines."""
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T

SIZE = 48


class Rivers(Dataset):
    def __init__(self, n=6):
        rng = np.random.default_rng(2)
        self.tiles = [Image.fromarray(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)) for _ in range(n)]
        self.masks = [Image.fromarray(rng.integers(0, 4, (64, 64), dtype=np.uint8)) for _ in range(n)]
        self.image_transform = T.Compose(
            [T.RandomCrop(SIZE), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.25] * 3)]
        )
        self.mask_transform = T.Compose([T.RandomCrop(SIZE), T.RandomHorizontalFlip(), T.PILToTensor()])

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, i):
        tile, mask = self.tiles[i], self.masks[i]
        tile = self.image_transform(tile)
        mask = self.mask_transform(mask).squeeze(0).long()  # error: TV505
        return {"tile": tile, "mask": mask}


model = nn.Conv2d(3, 4, 3, padding=1)
criterion = nn.CrossEntropyLoss()
for batch in DataLoader(Rivers(), batch_size=3, shuffle=True):
    loss = criterion(model(batch["tile"]), batch["mask"])
    loss.backward()
