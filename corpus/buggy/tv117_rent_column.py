"""Rents from a table; the target is a column, the predictions are flat."""
# needs: pandas
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
flats = pd.DataFrame({"area": rng.uniform(20, 120, 128), "rooms": rng.integers(1, 6, 128), "floor": rng.integers(0, 9, 128)})
flats["rent"] = flats["area"] * 11 + flats["rooms"] * 40
inputs = flats[["area", "rooms", "floor"]]
inputs = (inputs - inputs.mean()) / inputs.std()
x = torch.tensor(inputs.values, dtype=torch.float32)
y = torch.tensor(flats[["rent"]].values, dtype=torch.float32)

model = nn.Sequential(nn.Linear(inputs.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()
for epoch in range(3):
    for features, rent in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        prediction = model(features).squeeze(-1)
        loss = criterion(prediction, rent)  # error: TV117
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
