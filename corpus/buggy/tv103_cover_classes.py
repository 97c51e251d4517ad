"""Kinds of forest; the column of classes counts from 1."""
# needs: pandas, sklearn
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.preprocessing import RobustScaler
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(7)
n = 280
plots = pd.DataFrame({"elevation": rng.normal(2500, 300, n), "slope": rng.uniform(0, 40, n), "cover": rng.integers(1, 8, n)})
plots = plots.sample(frac=1, random_state=0).reset_index(drop=True)
plots[["elevation", "slope"]] = RobustScaler().fit_transform(plots[["elevation", "slope"]])
classes = plots["cover"].nunique()

x = torch.tensor(plots[["elevation", "slope"]].values, dtype=torch.float32)
y = torch.tensor(plots["cover"].values, dtype=torch.long)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 7))
optimizer = torch.optim.Adam(model.parameters())
for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=40):
    loss = nn.functional.cross_entropy(model(inputs), labels)  # warning: TV103
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
