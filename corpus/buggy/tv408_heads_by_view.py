import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        batch, steps, dim = x.shape
        q, k, v = self.qkv(x).view(batch, steps, self.heads, -1).chunk(3, dim=-1)
        q = q.reshape(batch, self.heads, steps, -1)  # warning: TV408
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, steps, dim)


def split(queries: torch.Tensor):
    batch, steps, heads, width = queries.shape
    return queries.reshape(batch, heads, steps, -1)  # warning: TV408


print(Attention(32, 4)(torch.randn(2, 10, 32)).shape, split(torch.randn(2, 10, 4, 8)).shape)
