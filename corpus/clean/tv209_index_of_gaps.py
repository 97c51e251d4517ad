"""Readings with gaps: the gaps are left out by an index."""
import torch

readings = torch.randn(6)
table = torch.randn(6, 3)
gaps = torch.tensor([0, 1, 0, 0, 1, 0], dtype=torch.uint8)

print(readings[gaps == 0].mean())
print(table[~gaps.bool(), 0].mean())
readings[gaps == 0] = 0

# `~` of an index counts from the end: the other one of two rows, and the rows in reverse order.
pair = torch.randn(2, 3)
side = torch.tensor([0, 1])
print(pair[~side], pair[~torch.tensor([0, 1, 1, 0])], table[~torch.arange(2)], table[~torch.arange(6)])
