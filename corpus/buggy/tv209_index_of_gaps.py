"""Readings with gaps: the gaps are left out by an index."""
import torch

readings = torch.randn(6)
table = torch.randn(6, 3)
gaps = torch.tensor([0, 1, 0, 0, 1, 0], dtype=torch.uint8)

# An index of type uint8 is a mask, and 254 and 255 are true: nothing is left out.
print(readings[~gaps].mean())  # warning: TV209
print(table[~gaps, 0].mean())  # warning: TV209

# An index of type int64 selects the last two readings again and again.
late = (readings > 0).long()
print(readings[~late].mean())  # warning: TV209
readings[~late] = 0  # warning: TV209
