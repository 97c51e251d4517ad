import cv2
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Clouds(Dataset):
    """Black and white masks, smoothed by the resize and made binary again."""

    def __init__(self, n=8):
        self.n = n
        self.to_tensor = transforms.Compose([transforms.Resize((32, 32)), transforms.ToTensor()])

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        photo = Image.fromarray(rng.integers(0, 256, (50, 50, 3), dtype=np.uint8))
        mask = np.zeros((50, 50), dtype=np.uint8)
        mask[i : i + 20, 5:40] = 255
        if i % 2:
            small = cv2.resize(mask, (32, 32))
            mask = (small > 127).astype(np.float32)
            mask = torch.from_numpy(mask).unsqueeze(0)
        else:
            mask = (self.to_tensor(Image.fromarray(mask)) > 0.5).float()
        return self.to_tensor(photo), mask


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1)).to(device)
bce = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for photo, mask in DataLoader(Clouds(), batch_size=4, shuffle=True):
    photo, mask = photo.to(device), mask.to(device)
    logits = net(photo)
    prob = logits.sigmoid()
    dice = 1 - (2 * (prob * mask).sum() + 1) / (prob.sum() + mask.sum() + 1)
    loss = bce(logits, mask) + dice
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
