import cv2
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

TERRAIN = ["water", "sand", "grass", "rock", "snow", "road"]


class Terrain(Dataset):
    def __init__(self, count, height, width):
        self.count = count
        self.size = (width, height)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        image = rng.integers(0, 255, (60, 90, 3)).astype(np.uint8)
        label = rng.integers(0, len(TERRAIN), (60, 90)).astype(np.uint8)
        image = cv2.resize(image, self.size)
        label = cv2.resize(label, self.size)  # error: TV501
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB).transpose(2, 0, 1)
        return torch.from_numpy(image).float() / 255.0, torch.from_numpy(label).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.dec = nn.ConvTranspose2d(16, len(TERRAIN), 2, stride=2)

    def forward(self, x):
        return self.dec(F.relu(self.enc(x)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for image, label in DataLoader(Terrain(8, 32, 48), batch_size=4):
    logits = net(image)
    loss = F.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
