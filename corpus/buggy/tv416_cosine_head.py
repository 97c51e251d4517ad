"""A classifier with cosine similarities as logits."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class CosineHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 10))

    def forward(self, features):
        # The batch has as many samples as there are features, so no error is raised.
        features = features / features.norm(dim=1)  # warning: TV416
        return features @ F.normalize(self.weight, dim=0)


def standardize(x):
    n, d = x.shape
    mean = x.mean(dim=-1)
    assert n == d
    return x - mean  # warning: TV416


encoder, head = nn.Linear(16, 16), CosineHead()
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x, y = torch.randn(16, 16), torch.randint(0, 10, (16,))
    optimizer.zero_grad()
    loss = F.cross_entropy(head(encoder(standardize(x))), y)
    loss.backward()
    optimizer.step()
