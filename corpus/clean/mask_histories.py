# needs: data
"""Masks that are resized and scaled, and rightly so."""
import cv2
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.transforms import InterpolationMode


class Binary(Dataset):
    """0 and 255 become 0 and 1, by ToTensor or by a threshold."""

    def __init__(self, paths):
        self.paths = paths
        self.sharp = transforms.Resize((64, 64), interpolation=InterpolationMode.NEAREST)
        self.soft = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        image = self.soft(Image.open(self.paths[i]).convert("RGB"))
        mask = Image.open(self.paths[i].replace("image", "mask")).convert("L")
        scaled = transforms.functional.to_tensor(self.sharp(mask)).squeeze(0).long()
        cut = (self.soft(mask).squeeze(0) > 0.5).long()
        rounded = self.soft(mask).squeeze(0).round().long()
        return image, scaled, cut, rounded


class Ids(Dataset):
    """Class ids: nearest neighbour, palette images, and multiplied by 255 again."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        label = cv2.imread(self.paths[i], 0)
        label = cv2.resize(label, (64, 64), interpolation=cv2.INTER_NEAREST)
        grey = Image.open(self.paths[i])
        opened = torch.from_numpy(np.array(grey.resize((64, 64)))).long()
        restored = (transforms.functional.to_tensor(label) * 255).squeeze(0).round().long()
        depth = torch.from_numpy(np.load(self.paths[i] + ".npy")).float()
        bins = F.interpolate(depth[None, None], size=(64, 64), mode="bilinear")[0, 0].long()
        return torch.from_numpy(label).long(), opened, restored, bins


def pixels(image):
    """A model of pixels has their 256 values as classes."""
    small = F.interpolate(image.float(), size=(8, 8), mode="area")
    logits = torch.randn(image.shape[0], 256, 1, 8, 8)
    return F.cross_entropy(logits, small.long())


def main():
    two = nn.Conv2d(3, 2, 1)
    for image, scaled, cut, rounded in DataLoader(Binary(["image1.png", "image2.png"]), batch_size=2):
        out = two(image)
        loss = sum(F.cross_entropy(out, target) for target in (scaled, cut, rounded))
        loss.backward()
    for label, opened, restored, bins in DataLoader(Ids(["a.png", "b.png"]), batch_size=2):
        out = torch.randn(2, 19, 64, 64, requires_grad=True)
        loss = sum(F.cross_entropy(out, target) for target in (label, opened, restored, bins))
        loss.backward()
    print(pixels(torch.randint(0, 256, (2, 1, 32, 32), dtype=torch.uint8)))


if __name__ == "__main__":
    main()
