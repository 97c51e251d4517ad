"""Accidents per district; counts are integers all the way to the layer."""
# needs: pandas, sklearn
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(2)
table = pd.DataFrame({"bikes": rng.poisson(9, 300), "cars": rng.poisson(30, 300), "night": rng.integers(0, 2, 300)})
table["severe"] = (table["cars"] + 5 * table["night"] > 33).astype(int)
X = table.drop("severe", axis=1)
y = table["severe"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)
train = TensorDataset(torch.tensor(X_train.values), torch.tensor(y_train.values))

model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for inputs, labels in DataLoader(train, batch_size=30, shuffle=True):
    outputs = model(inputs)  # error: TV402
    loss = nn.functional.cross_entropy(outputs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
