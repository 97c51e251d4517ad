"""Trains a small segmentation network on cropped scans."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self, count, size=32, crop=24):
        self.images = torch.rand(count, 1, size, size)
        self.masks = (self.images[:, 0] > 0.6).long()
        self.crop = crop

    def __len__(self):
        return len(self.images)

    def cropped(self, image, mask):
        top = int(torch.randint(0, image.shape[-2] - self.crop, ()))
        left = int(torch.randint(0, image.shape[-1] - self.crop, ()))
        image = image[:, top : top + self.crop, left : left + self.crop]
        mask = mask[top : top + self.crop, left : left + self.crop]

    def __getitem__(self, index):
        image, mask = self.cropped(self.images[index], self.masks[index])  # warning: TV215
        return image, mask


def main():
    torch.manual_seed(5)
    loader = DataLoader(Scans(16), batch_size=4, shuffle=True)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for images, masks in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), masks)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
