"""Kidney slices with masks as plain tensors, augmented with torchvision's v2."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2


class Kidneys(Dataset):
    def __init__(self, transforms, n=4, size=40):
        rng = np.random.default_rng(1)
        self.slices = rng.random((n, 1, size, size), dtype=np.float32)
        self.masks = rng.integers(0, 3, (n, size, size))
        self.transforms = transforms

    def __len__(self):
        return len(self.slices)

    def __getitem__(self, i):
        image = tv_tensors.Image(torch.from_numpy(self.slices[i]))
        mask = torch.from_numpy(self.masks[i])
        sample = {"image": image, "mask": mask, "id": i}
        if self.transforms is not None:
            sample = self.transforms(sample)  # error: TV506
        return sample["image"], sample["mask"]


augment = v2.Compose(
    [
        v2.RandomHorizontalFlip(p=0.5),
        v2.RandomAffine(degrees=15, translate=(0.1, 0.1)),
        v2.ToDtype(torch.float32, scale=True),
    ]
)
model = nn.Conv2d(1, 3, 3, padding=1)
for image, mask in DataLoader(Kidneys(augment), batch_size=2):
    loss = nn.functional.cross_entropy(model(image), mask.long())
    loss.backward()
