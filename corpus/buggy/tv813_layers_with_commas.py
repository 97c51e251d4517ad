import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width, classes, padded):
        super().__init__()
        self.inner = nn.Conv1d(4, width, 3, padding=1)
        if padded:
            self.pad = nn.ConstantPad1d(2, 0.0),  # warning: TV813
        else:
            self.pad = nn.Identity()
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.inner(self.pad(x)).amax(dim=-1))


def train(loader, padded):
    model = Net(8, 3, padded)
    if padded:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3),  # warning: TV813
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


data = TensorDataset(torch.randn(32, 4, 10), torch.randint(3, (32,)))
train(DataLoader(data, batch_size=8), padded=False)
