"""Views of padded scores, whose rows they shift."""

import torch
import torch.nn.functional as F


def shifted(scores):
    heads, steps, keys = scores.shape[1:]
    padded = F.pad(scores, (1, 0))
    return padded.reshape(-1, heads, keys + 1, steps)[:, :, 1:].reshape(scores.shape)


def shifted_first(scores):
    steps, keys, batch, heads = scores.shape
    turned = scores.reshape(keys, steps, batch, heads)[1:]
    return turned.reshape(steps, keys - 1, batch, heads)


def shifted_middle(scores):
    batch, steps, keys, heads = scores.shape
    padded = torch.cat([scores.new_zeros(batch, steps, 1, heads), scores], dim=2)
    return padded.reshape(batch, keys + 1, steps, heads)[:, 1:].reshape(batch, steps, keys, heads)


print(shifted(torch.randn(2, 4, 6, 9)).shape)
print(shifted_first(torch.randn(6, 9, 2, 4)).shape)
print(shifted_middle(torch.randn(2, 6, 9, 4)).shape)
