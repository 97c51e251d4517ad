"""Grades of loans from a table; the labels are a frame of one column."""
# needs: pandas, sklearn
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.preprocessing import LabelEncoder, MinMaxScaler
from torch.utils.data import DataLoader, Dataset


def loans(n=200):
    rng = np.random.default_rng(1)
    income = rng.gamma(3.0, 20.0, n)
    rows = {
        "income": income,
        "amount": rng.uniform(1, 40, n),
        "term": rng.choice([36, 60], n),
        "grade": np.where(income > 70, "A", np.where(income > 40, "B", "C")),
    }
    return pd.DataFrame(rows)


class Loans(Dataset):
    def __init__(self, frame):
        features = frame.drop(columns=["grade"])
        labels = frame[["grade"]].copy()
        labels["grade"] = LabelEncoder().fit_transform(labels["grade"])
        self.features = torch.tensor(MinMaxScaler().fit_transform(features), dtype=torch.float32)
        self.labels = torch.tensor(labels.values, dtype=torch.long)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.features[index], self.labels[index]


model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for features, labels in DataLoader(Loans(loans()), batch_size=20, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(features), labels)  # error: TV104
        loss.backward()
        optimizer.step()
