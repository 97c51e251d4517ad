"""Cultivars of wine; the column of labels is divided as integers."""
# needs: pandas, sklearn
import pandas as pd
import torch
import torch.nn as nn
from sklearn.datasets import load_wine

wine = load_wine()
table = pd.DataFrame(wine.data, columns=wine.feature_names)
table["bin"] = wine.target * 10
# The bins are tens.
table["label"] = table["bin"] // 10
features = [name for name in table.columns if name not in ("bin", "label")]
table[features] = (table[features] - table[features].min()) / (table[features].max() - table[features].min())

x = torch.tensor(table[features].values.astype("float32"))
y = torch.tensor(table["label"].values)
model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(5):
    loss = nn.CrossEntropyLoss()(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
