"""Dropout in all the forms that do not ask for the mode."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, dropout=0.1):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.project(x).view(n, length, self.heads, 3 * width // self.heads).transpose(1, 2).chunk(3, dim=-1)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)  # warning: TV612
        return y.transpose(1, 2).reshape(n, length, width)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = Attention(width, 2)
        self.up, self.down = nn.Linear(width, 32), nn.Linear(32, width)

    def forward(self, x):
        x = x + self.attention(x)
        drop = nn.Dropout(0.2)  # warning: TV612
        h = drop(F.selu(self.up(x)))
        h = F.alpha_dropout(h, 0.1)  # warning: TV612
        return x + nn.Sequential(nn.Identity())(self.down(h))


model = Block(8).eval()
with torch.no_grad():
    print(model(torch.randn(2, 5, 8)).shape)
