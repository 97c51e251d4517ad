"""Random rotations of terrain maps: what turns in from outside is no class."""
import random

import numpy as np
import torch
import torch.nn as nn
import torchvision.transforms.functional as TF
from PIL import Image
from torch.utils.data import DataLoader, Dataset

CLASSES = ["water", "sand", "grass", "rock", "snow"]


class Terrain(Dataset):
    def __init__(self, n=6, size=48, train=True):
        rng = np.random.RandomState(3)
        self.images = [rng.randint(0, 256, (size, size, 3)).astype(np.uint8) for _ in range(n)]
        self.masks = [rng.randint(0, len(CLASSES), (size, size)).astype(np.uint8) for _ in range(n)]
        self.train = train

    def __len__(self):
        return len(self.images)

    def augment(self, image, mask):
        angle = random.uniform(-20, 20)
        image = TF.rotate(image, angle)
        mask = TF.rotate(mask, angle, fill=255)
        image = TF.pad(image, 8)
        mask = TF.pad(mask, 8, fill=255)
        return image, mask

    def __getitem__(self, i):
        image, mask = Image.fromarray(self.images[i]), Image.fromarray(self.masks[i])
        if self.train:
            image, mask = self.augment(image, mask)
        return TF.to_tensor(image), torch.from_numpy(np.array(mask)).long()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Conv2d(3, len(CLASSES), 1).to(device)
criterion = nn.CrossEntropyLoss(ignore_index=255)
optimizer = torch.optim.Adam(model.parameters())
for images, masks in DataLoader(Terrain(), batch_size=3, shuffle=True):
    loss = criterion(model(images.to(device)), masks.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
