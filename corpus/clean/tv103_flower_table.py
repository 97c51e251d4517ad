"""Classify flowers from a small table of measurements."""
import csv
import io

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

TABLE = """sepal_length,sepal_width,petal_length,petal_width,species
5.1,3.5,1.4,0.2,1
4.9,3.0,1.4,0.2,1
7.0,3.2,4.7,1.4,2
6.4,3.2,4.5,1.5,2
6.3,3.3,6.0,2.5,3
5.8,2.7,5.1,1.9,3
5.0,3.6,1.4,0.2,1
6.9,3.1,4.9,1.5,2
7.1,3.0,5.9,2.1,3
"""


class FlowerDataset(Dataset):
    species = [1, 1, 2, 2, 3, 3, 1, 2, 3]

    def __init__(self, text):
        self.rows = list(csv.DictReader(io.StringIO(text)))
        self.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, idx):
        row = self.rows[idx]
        features = torch.tensor([float(row[c]) for c in self.columns])
        return features, self.species[idx] - 1


class Classifier(nn.Module):
    def __init__(self, in_dim=4, hidden=16, n_classes=3):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(in_dim, hidden),
            nn.ReLU(),
            nn.Linear(hidden, n_classes),
        )

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(42)
loader = DataLoader(FlowerDataset(TABLE), batch_size=3, shuffle=True)
model = Classifier()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(5):
    running = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        out = model(xb)
        loss = loss_fn(out, yb)
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch}: {running / len(loader):.4f}")
