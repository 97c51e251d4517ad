"""Levels of a river; a Series is handed over as an array."""
# needs: pandas
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

levels = pd.DataFrame({"level": np.sin(np.arange(200) / 7.0), "rain": np.random.default_rng(0).random(200)})
levels["next"] = levels["level"].shift(-1)
levels = levels.dropna()
x = torch.from_numpy(levels[["level", "rain"]].to_numpy()).float()
y = torch.from_numpy(levels["next"].values).float()
model = nn.Linear(2, 1)
loss = nn.functional.mse_loss(model(x).squeeze(1), y)
loss.backward()

# PyTorch accepts a Series whose index begins at 0 as a sequence of numbers.
again = levels.reset_index(drop=True)
print(torch.tensor(again["rain"], dtype=torch.float32).shape, torch.FloatTensor(again["level"]).dtype)
