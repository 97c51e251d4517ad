# needs: sklearn
"""Tensors that NumPy and scikit-learn can read, and functions that read no elements."""

import numpy as np
import torch
from sklearn.metrics import accuracy_score, roc_auc_score

device = "cuda" if torch.cuda.is_available() else "cpu"
scores = torch.rand(8, device=device)
labels = (torch.arange(8) % 2).to(device)
losses = [scores.mean(), scores.sum()]

print(np.exp(scores.cpu()).shape, np.mean([loss.item() for loss in losses]), np.float32(scores.sum().item()))
print(np.mean(scores.cpu().numpy()), np.mean(torch.stack(losses).tolist()))
print(np.shape(scores), np.ndim(scores), np.squeeze(scores))
print(accuracy_score(labels.cpu(), (scores > 0.5).cpu()), roc_auc_score(labels.cpu().numpy(), scores.tolist()))
weight = torch.ones((), requires_grad=True)
print(np.float64(weight), float(weight))

# A ufunc of NumPy returns a tensor for a tensor on the CPU.
there = torch.randn(3)
print(torch.cat([np.exp(there), there]).add_(1), np.maximum(there, 0).unsqueeze(0))

empty = []
for name in []:
    empty.append(scores.mean())
print(np.mean(empty or [0.0]))
