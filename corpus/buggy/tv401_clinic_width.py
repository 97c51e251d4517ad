"""Risk at a clinic; a column was dropped after the model's width had been counted by hand."""
# needs: pandas
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

rng = np.random.default_rng(5)
n = 64
visits = pd.DataFrame(
    {
        "patient": np.arange(n),
        "age": rng.integers(20, 90, n),
        "bmi": rng.normal(26, 3, n),
        "pressure": rng.normal(130, 15, n),
        "smoker": rng.integers(0, 2, n),
        "risk": rng.integers(0, 2, n),
    }
)
visits.drop("patient", axis=1, inplace=True)
target = visits.pop("risk")
x = torch.tensor(visits.to_numpy(dtype=np.float32))
y = torch.tensor(target.to_numpy(), dtype=torch.float32).unsqueeze(1)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    logits = model(x)  # error: TV401
    loss = nn.functional.binary_cross_entropy_with_logits(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
