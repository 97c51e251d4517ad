"""The norm and the deviation of complex numbers are real."""

import numpy as np
import torch

c = np.zeros((4, 5, 3), dtype=complex)
e = np.zeros((4, 3))
for i in range(3):
    e[:, i] += np.linalg.norm(c[:, :, i], axis=1) / np.sqrt(3)
print(e.dtype)
