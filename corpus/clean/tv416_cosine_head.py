"""A classifier with cosine similarities as logits."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class CosineHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 10))

    def forward(self, features):
        features = features / features.norm(dim=1, keepdim=True)
        # Along the first axis, broadcasting is right.
        weight = self.weight / self.weight.norm(dim=0)
        return features @ weight


def standardize(x):
    n, d = x.shape
    mean = x.mean(dim=-1).unsqueeze(1)
    x = x - mean
    x = x / x.std(dim=1)[:, None]
    x = x / (x.norm(2, 1, True) + 1e-6)
    scale = x.amax(dim=1)
    return (x.t() / scale.clamp(min=1e-6)).t().reshape(n, d)


def centred(scores):
    # One vector.
    return scores - scores.mean(dim=-1)


def column_shares(affinity):
    # The matrix is symmetric.
    return affinity / affinity.sum(dim=1)


def shares(counts):
    return counts / np.sum(counts, axis=1, keepdims=True)


encoder, head = nn.Linear(16, 16), CosineHead()
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x, y = torch.randn(16, 16), torch.randint(0, 10, (16,))
    optimizer.zero_grad()
    loss = F.cross_entropy(head(encoder(standardize(x))), y)
    loss.backward()
    optimizer.step()
print(centred(x[0]), column_shares(x @ x.t()), shares(np.ones((2, 3))))
