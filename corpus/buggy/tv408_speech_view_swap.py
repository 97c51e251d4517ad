"""Spoken digits: spectrograms come as [batch, time, mel] and the convolution wants [batch, mel, time]."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Spectrograms(Dataset):
    def __init__(self, n=12, frames=50, mels=20):
        self.data = torch.randn(n, frames, mels)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i], i % 10


class Recogniser(nn.Module):
    def __init__(self, mels=20, classes=10):
        super().__init__()
        self.conv = nn.Conv1d(mels, 32, 5, padding=2)
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        batch, frames, mels = x.shape
        h = F.relu(self.conv(x.view(batch, mels, frames)))  # warning: TV408
        h = h.transpose(1, 2).reshape(batch * frames, -1).view(batch, frames, -1)
        return self.head(self.norm(h).mean(dim=1))


model = Recogniser()
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(Spectrograms(), batch_size=4, shuffle=True):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
