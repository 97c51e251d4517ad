"""Dropout that follows the mode, or is wanted whatever the mode."""
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
        rate = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=rate)
        y = y + F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout * self.training)
        return y.transpose(1, 2).reshape(n, length, width)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = Attention(width, 2)
        self.up, self.down = nn.Linear(width, 32), nn.Linear(32, width)
        self.drop = None

    def forward(self, x):
        x = x + self.attention(x)
        if self.drop is None:
            # The layer is created at the first call, and registered in the module.
            self.drop = nn.Dropout(0.2)
        h = self.drop(F.selu(self.up(x)))
        h = F.alpha_dropout(h, 0.1, training=self.training)
        return x + self.down(h)


class Sampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        x = nn.Dropout(0.0)(x)
        return self.out(F.dropout(x, 0.5, training=True))


class Moded(nn.Module):
    def forward(self, x):
        return nn.Dropout(0.5).train(self.training)(x)


class Switched(nn.Module):
    """Its dropout follows the mode, and a switch of its own."""

    def __init__(self):
        super().__init__()
        self.drops = True

    def forward(self, x):
        training = self.training
        if training:
            x = F.dropout(x, 0.5)
        if self.drops:
            x = F.dropout(x, 0.1)
        return x


switched = Switched()
switched.drops = False
model = nn.Sequential(Block(8), Moded(), switched, Sampled())
model.train()
model(torch.randn(2, 5, 8)).sum().backward()
model.eval()
with torch.no_grad():
    print(model(torch.randn(2, 5, 8)).shape)
