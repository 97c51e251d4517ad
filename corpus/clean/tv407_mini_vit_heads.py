"""Attention over patches, written out; the heads are joined at the end."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SelfAttention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.project = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = (part.reshape(B, N, self.heads, C // self.heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) * (C // self.heads) ** -0.5
        out = F.softmax(scores, dim=-1) @ v
        out = out.transpose(1, 2).contiguous().view(B, N, C)
        return self.project(out)


class Classifier(nn.Module):
    def __init__(self, patch=4, dim=32, classes=10):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, patch, patch)
        self.attention = SelfAttention(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, images):
        tokens = self.patch(images).flatten(2).transpose(1, 2)
        return self.head((tokens + self.attention(tokens)).mean(1))


data = TensorDataset(torch.rand(16, 1, 28, 28), torch.randint(0, 10, (16,)))
model = Classifier()
for images, labels in DataLoader(data, batch_size=8):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
