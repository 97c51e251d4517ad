"""Dice loss for multi-organ CT. Voxels outside the body are marked 255."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ORGANS = ["background", "liver", "spleen", "kidney"]


class Slices(Dataset):
    def __init__(self, n=8, size=32):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        ct = torch.randn(1, self.size, self.size)
        label = torch.full((self.size, self.size), 255, dtype=torch.long)
        label[4:28, 4:28] = 0
        label[8:16, 8:16] = 1 + i % 3
        return ct, label


class DiceLoss(nn.Module):
    def __init__(self, n_classes, ignore=255, eps=1e-6):
        super().__init__()
        self.n_classes = n_classes
        self.ignore = ignore
        self.eps = eps

    def forward(self, logits, label):
        valid = (label != self.ignore).unsqueeze(1)
        prob = logits.softmax(dim=1)
        onehot = F.one_hot(label, self.n_classes).permute(0, 3, 1, 2).float()  # error: TV204
        prob, onehot = prob * valid, onehot * valid
        inter = (prob * onehot).sum(dim=(0, 2, 3))
        total = prob.sum(dim=(0, 2, 3)) + onehot.sum(dim=(0, 2, 3))
        return 1 - ((2 * inter + self.eps) / (total + self.eps)).mean()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.InstanceNorm2d(8),
    nn.LeakyReLU(),
    nn.Conv2d(8, len(ORGANS), 1),
).to(device)
criterion = DiceLoss(len(ORGANS))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.99, nesterov=True)
for ct, label in DataLoader(Slices(), batch_size=4, shuffle=True):
    loss = criterion(model(ct.to(device)), label.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
