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
            image = self.flips(image)
            mask = self.flips(mask)  # warning: TV505
        return self.to_tensor(image), (self.to_tensor(mask) > 0.5).float()


for images, masks in DataLoader(Lesions(augment=True), batch_size=4):
    print(images.shape, masks.sum().item())
