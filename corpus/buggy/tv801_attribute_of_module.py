import numpy as np
import torch
import torch.nn as nn


class OutlierLoss(nn.Module):
    def __init__(self, alpha=0.5):
        super().__init__()
        self.alpha = alpha

    def forward(self, logits):
        zeros = torch.zeros(logits.shape[0], device=self.device)  # error: TV801
        return zeros + self.alpha * logits.logsumexp(dim=1)


def accuracy(hits):
    return np.mean(np.asarray(hits, dtype=np.float))  # warning: TV801


OutlierLoss()(torch.randn(3, 4))
