# needs: data
"""Facade parsing: both pictures go through the transform of the image."""
from pathlib import Path

import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

NUM_CLASSES = 12


class Facades(Dataset):
    def __init__(self, root):
        self.names = sorted(p.stem for p in Path(root, "base").glob("*.jpg"))
        self.root = Path(root)
        self.transform = transforms.Compose([transforms.Resize((128, 128)), transforms.ToTensor()])

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        image = Image.open(self.root / "base" / f"{self.names[index]}.jpg").convert("RGB")
        label = Image.open(self.root / "base" / f"{self.names[index]}.png").convert("L")
        image = self.transform(image)
        label = self.transform(label)
        return image, label.squeeze(0).long()  # error: TV502


device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, NUM_CLASSES, 1)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for image, label in DataLoader(Facades("facades"), batch_size=4, shuffle=True):
    loss = criterion(model(image.to(device)), label.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
