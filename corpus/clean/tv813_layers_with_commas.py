import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width, classes, padded):
        super().__init__()
        self.inner = nn.Conv1d(4, width, 3, padding=1)
        self.pad = nn.ConstantPad1d(2, 0.0) if padded else nn.Identity()
        # Iterated, indexed, unpacked.
        self.acts = nn.ReLU(),
        self.losses = nn.CrossEntropyLoss(),
        self.scales = float(width),
        # In parentheses, the tuple is meant.
        self.drop = (nn.Dropout(0.1),)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.inner(self.pad(x))
        for act in self.acts:
            x = act(x)
        (drop,) = self.drop
        return self.head(drop(x).amax(dim=-1)) / self.scales[0]

    def loss(self, out, y):
        return sum(loss(out, y) for loss in self.losses)


class Wrapped(nn.Module):
    """The tuple of one method is replaced before it is used."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.norm = nn.Identity(),

    def build(self, width):
        self.norm = nn.LayerNorm(width)
        return self

    def forward(self, x):
        return self.norm(self.inner(x))


def pair(x, single):
    out = x * 2
    if single:
        out = torch.relu(out),
        return out
    return out.sum(), out


def stacked(x):
    out = torch.relu(x),
    out = torch.stack(out)
    return out.mean()


def train(loader):
    model = Net(8, 3, padded=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for x, y in loader:
        loss = model.loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


data = TensorDataset(torch.randn(32, 4, 10), torch.randint(3, (32,)))
train(DataLoader(data, batch_size=8))
print(pair(torch.ones(2), single=False), stacked(torch.ones(2)), Wrapped(nn.Linear(2, 3)).build(3)(torch.ones(1, 2)))
