# needs: data
"""Land cover from aerial photos; the labels are grey PNGs of class ids."""
import glob

import cv2
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ["building", "road", "water", "barren", "forest", "farm"]


class LandCover(Dataset):
    def __init__(self, root, side=256):
        self.images = sorted(glob.glob(f"{root}/images/*.png"))
        self.labels = sorted(glob.glob(f"{root}/labels/*.png"))
        self.side = side

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = cv2.imread(self.images[i])
        label = cv2.imread(self.labels[i], 0)
        image = cv2.resize(image, (self.side, self.side))
        # The third positional argument is dst: the interpolation stays linear.
        label = cv2.resize(label, (self.side, self.side), cv2.INTER_NEAREST)  # error: TV501, warning: TV807
        image = torch.from_numpy(image).permute(2, 0, 1).float() / 255
        return image, torch.from_numpy(label).long()


def main():
    loader = DataLoader(LandCover("data/landcover"), batch_size=8, shuffle=True, drop_last=True)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, len(CLASSES), 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(10):
        for image, label in loader:
            loss = F.cross_entropy(net(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
