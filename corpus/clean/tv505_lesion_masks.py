import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Lesions(Dataset):
    def __init__(self, augment):
        self.augment = augment
        self.flips = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.RandomVerticalFlip()])
        self.to_tensor = transforms.ToTensor()

    def __len__(self):
        return 8

    def __getitem__(self, i):
        image = Image.fromarray(np.full((16, 16), i * 20, dtype=np.uint8))
        mask = Image.fromarray(np.eye(16, dtype=np.uint8) * 255)
        if self.augment:
            both = self.flips(torch.cat([self.to_tensor(image), self.to_tensor(mask)]))
            return both[:1], (both[1:] > 0.5).float()
        return self.to_tensor(image), (self.to_tensor(mask) > 0.5).float()


class TwoViews(Lesions):
    """Two augmented versions of one image, as contrastive learning needs them."""

    def __getitem__(self, i):
        image = Image.fromarray(np.full((16, 16), i * 20, dtype=np.uint8))
        first = self.flips(image)
        second = self.flips(image)
        return self.to_tensor(first), self.to_tensor(second)


for first, second in DataLoader(TwoViews(augment=True), batch_size=4):
    print(first.shape, second.shape)
for images, masks in DataLoader(Lesions(augment=True), batch_size=4):
    print(images.shape, masks.sum().item())
