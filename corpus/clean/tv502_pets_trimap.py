"""Oxford pets style trimaps: 0 background, 1 pet, 2 border."""
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Pets(Dataset):
    def __init__(self, n=6):
        self.n = n
        self.to_tensor = transforms.ToTensor()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        photo = Image.fromarray(rng.integers(0, 256, (24, 24, 3), dtype=np.uint8))
        trimap = np.zeros((24, 24), dtype=np.uint8)
        trimap[6:18, 6:18] = 2
        trimap[8:16, 8:16] = 1
        trimap = Image.fromarray(trimap)
        x = self.to_tensor(photo)
        y = torch.from_numpy(np.array(trimap)).long()
        return x, y


def train_one_epoch(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 3, 1)).to(device)
loader = DataLoader(Pets(), batch_size=3, shuffle=True)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    print(epoch, train_one_epoch(model, loader, nn.CrossEntropyLoss(), optimizer, device))
