"""Output of a gas turbine from its sensors; the scaled features are cast."""
# needs: pandas, sklearn
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

SENSORS = ["ambient", "pressure", "humidity", "exhaust"]


def read_log(n=240):
    rng = np.random.default_rng(3)
    log = pd.DataFrame(rng.normal(size=(n, 4)), columns=SENSORS)
    log["power"] = 400 + 20 * log["ambient"] - 5 * log["exhaust"] + rng.normal(size=n)
    return log.sample(frac=1.0, random_state=0).reset_index(drop=True)


class Regressor(nn.Module):
    def __init__(self, inputs, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


log = read_log()
train, test = train_test_split(log, test_size=0.25, random_state=0)
scaler = StandardScaler()
x_train = torch.from_numpy(scaler.fit_transform(train[SENSORS])).float()
y_train = torch.tensor(train["power"].values, dtype=torch.float32)
x_test = torch.from_numpy(scaler.transform(test[SENSORS]).astype("float32"))
y_test = torch.tensor(test["power"].to_numpy(dtype=np.float32))

model = Regressor(len(SENSORS))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.MSELoss()
for epoch in range(3):
    for x, y in DataLoader(TensorDataset(x_train, y_train), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    print(loss_fn(model(x_test), y_test).item())
