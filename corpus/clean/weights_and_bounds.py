"""Losses that are called in unusual, and right, ways."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weights = torch.tensor([1.0, 4.0, 2.0])


class Model(nn.Module):
    """The loss is a part of the model, and its weights move with it."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 3)
        self.criterion = nn.CrossEntropyLoss(weights)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x, y=None):
        h = self.body(x)
        mask = torch.zeros_like(h) + h.new_ones(3) + torch.arange(3).type_as(h)
        logits = h * self.scale + 0 * mask
        return logits if y is None else self.criterion(logits, y)


def squeeze_labels(batch):
    x, y = zip(*batch)
    return torch.stack(x), torch.stack(y).squeeze(1)


x, y = torch.randn(12, 6), torch.randint(0, 3, (12, 1))
model = Model().to(device)
moved = nn.CrossEntropyLoss(weight=weights).to(device)
from_labels = nn.CrossEntropyLoss(weight=torch.bincount(y.flatten().to(device), minlength=3).float() + 1)
bce = nn.BCEWithLogitsLoss()
attention = nn.MultiheadAttention(6, 2, batch_first=True).to(device)

for xb, yb in DataLoader(TensorDataset(x, y), batch_size=4, collate_fn=squeeze_labels):
    xb, yb = xb.to(device), yb.to(device)
    logits = model(xb)
    loss = model(xb, yb) + moved(logits, yb) + from_labels(logits, yb)
    # `bce` takes logits here.
    loss = loss + bce(logits[:, 0], (yb == 0).float())
    # These values are between 0 and 1 without a sigmoid.
    cosine = (F.cosine_similarity(xb, xb.roll(1, 0)) + 1) / 2
    loss = loss + F.binary_cross_entropy(cosine.clamp(0, 1), torch.ones_like(cosine))
    with torch.autocast(device.type, dtype=torch.bfloat16):
        hidden, _ = attention(xb[None], xb[None], xb[None])
        mixed = torch.softmax(hidden @ hidden.transpose(1, 2), dim=-1) @ hidden
        with torch.autocast(device.type, enabled=False):
            loss = loss + F.binary_cross_entropy(torch.sigmoid(mixed.float()), torch.full_like(mixed.float(), 0.5))
    # Ids outside the table are clipped to its last row, which is reserved for them.
    table = nn.Embedding(8, 6).to(device)
    loss = loss + table((yb * 5).clamp(max=7)).mean()
    # The encoding has an additional class for ignored labels, which is then removed.
    ignored = torch.where(yb == 2, torch.tensor(3, device=device), yb)
    loss = loss + F.one_hot(ignored, 4)[:, :3].sum()
    loss.backward()
