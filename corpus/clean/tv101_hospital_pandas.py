"""Length of stay in three groups; the label column went through a list of strings."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

ROWS = """0.2,1.4,0.3,2
1.2,0.1,0.8,0
0.7,0.9,0.5,1
0.1,1.1,0.2,2
""".strip().split("\n")


def load(rows):
    table = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    return table[:, :-1], table[:, -1]


class Stays(Dataset):
    def __init__(self, features, labels):
        self.x = torch.from_numpy(features).float()
        self.y = torch.from_numpy(labels).long()

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


features, labels = load(ROWS)
mean, std = features.mean(0), features.std(0)
data = Stays((features - mean) / std, labels)
model = nn.Sequential(nn.Linear(features.shape[1], 8), nn.Tanh(), nn.Linear(8, 3))
loss_fn = nn.CrossEntropyLoss()


def train_epoch(loader, optimizer):
    for xb, yb in loader:
        pred = model(xb)
        loss = loss_fn(pred, yb)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


train_epoch(DataLoader(data, batch_size=2, shuffle=True), torch.optim.Adam(model.parameters()))
