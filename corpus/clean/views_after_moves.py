"""Views of moved axes that memory allows, or that were made to fit."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(4, 6, 8, 10)
last = x.permute(0, 2, 3, 1)
pixels = last.view(4, 80, 6)
split = last.view(4, 2, 4, 10, 6)
alone = torch.randn(1, 5, 7).transpose(0, 1).view(5, 7)
back = x.transpose(1, 2).transpose(1, 2).view(4, -1)
copied = x.transpose(1, 2).contiguous().view(4, 8, 60)
reshaped = x.permute(3, 2, 1, 0).reshape(10, -1)
cloned = x.transpose(1, 2).clone(memory_format=torch.contiguous_format).view(4, 8, 60)
flat = x.transpose(0, 1).flatten(1)
with_one = torch.randn(8, 1, 16).transpose(0, 1).view(8, 16)
features = nn.Linear(10, 12)(x).view(4, 6, 8, 3, 4).permute(0, 3, 1, 2, 4)
joined = features.flatten(3).view(4, 3, 6, 32) if features.is_contiguous() else features.reshape(4, 3, 6, 32)
for (batch,) in DataLoader(TensorDataset(x), batch_size=2):
    batch = batch.mul(2).transpose(2, 3).contiguous()
    print(batch.view(2, -1).shape, batch.transpose(0, 1).reshape(6, -1).shape)
print(pixels.shape, split.shape, alone.shape, back.shape, copied.shape, reshaped.shape, cloned.shape, flat.shape)
print(with_one.shape, joined.shape)
