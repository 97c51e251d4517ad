# needs: data
"""Rotate aerial tiles and their label maps on the GPU with kornia."""
import kornia.augmentation as K
import kornia.geometry as G
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 6


class Tiles(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.rand(3, 64, 64), torch.randint(0, CLASSES, (64, 64))


class Augment(nn.Module):
    def __init__(self):
        super().__init__()
        self.warp_label = K.RandomPerspective(0.3, p=1.0)

    @torch.no_grad()
    def forward(self, image, label):
        angle = torch.empty(image.shape[0], device=image.device).uniform_(-30, 30)
        image = G.rotate(image, angle)
        label = label.unsqueeze(1).float()
        turned = G.rotate(label, angle)  # error: TV501
        bent = self.warp_label(label)  # error: TV501
        return image, turned.squeeze(1).long(), bent.squeeze(1).long()


augment = Augment()
model = nn.Conv2d(3, CLASSES, 3, padding=1)
criterion = nn.CrossEntropyLoss()
for image, label in DataLoader(Tiles(), batch_size=4):
    image, turned, bent = augment(image, label)
    loss = criterion(model(image), turned) + criterion(model(image), bent)
    loss.backward()
