"""Distorted documents: the page and the map of its regions are bent by the same corners."""
import numpy as np
import torch
import torch.nn as nn
import torchvision.transforms as T
import torchvision.transforms.functional as TF
from PIL import Image
from torch.utils.data import DataLoader, Dataset

REGIONS = ["paper", "text", "figure", "table"]


class Pages(Dataset):
    def __init__(self, n=4, size=48):
        rng = np.random.default_rng(5)
        self.pages = [Image.fromarray(rng.integers(0, 256, (size, size), dtype=np.uint8)) for _ in range(n)]
        self.maps = [Image.fromarray(rng.integers(0, len(REGIONS), (size, size), dtype=np.uint8)) for _ in range(n)]

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, i):
        page, regions = self.pages[i], self.maps[i]
        start, end = T.RandomPerspective.get_params(page.width, page.height, 0.3)
        page = TF.perspective(page, start, end)
        regions = TF.perspective(regions, start, end, interpolation=T.InterpolationMode.NEAREST)
        regions = TF.affine(regions, 5.0, [1, 0], 1.0, [0.0])
        return TF.to_tensor(page), TF.pil_to_tensor(regions).squeeze(0).long()


net = nn.Conv2d(1, len(REGIONS), 3, padding=1)
criterion = nn.CrossEntropyLoss()
for page, regions in DataLoader(Pages(), batch_size=2):
    criterion(net(page), regions).backward()
