"""A helper that most callers use rightly: the finding names the call that does not."""
import torch.nn as nn


def block(c_in, c_out, groups=1):
    return nn.Conv2d(c_in, c_out, 3, groups=groups)  # error: TV405


stem = block(3, 8)
body = block(8, 8, groups=8)
head = block(8, 8, False)
