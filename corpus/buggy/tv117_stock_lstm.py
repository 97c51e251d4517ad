import numpy as np
import torch
import torch.nn as nn


def sliding_windows(series, length):
    xs, ys = [], []
    for i in range(len(series) - length):
        xs.append(series[i : i + length])
        ys.append(series[i + length])
    return np.array(xs), np.array(ys)


class LSTMRegressor(nn.Module):
    def __init__(self, input_size=1, hidden_size=16, num_layers=1):
        super().__init__()
        self.num_layers = num_layers
        self.hidden_size = hidden_size
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, 1)

    def forward(self, x):
        h0 = torch.zeros(self.num_layers, x.size(0), self.hidden_size)
        c0 = torch.zeros(self.num_layers, x.size(0), self.hidden_size)
        out, _ = self.lstm(x, (h0, c0))
        out = self.fc(out[:, -1, :])
        return out.flatten()


series = np.sin(np.linspace(0, 30, 300))
x, y = sliding_windows(series, 20)
x = torch.tensor(x, dtype=torch.float32).unsqueeze(-1)
y = torch.tensor(y, dtype=torch.float32).unsqueeze(-1)

model = LSTMRegressor()
criterion = nn.SmoothL1Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(5):
    outputs = model(x)
    optimizer.zero_grad()
    loss = criterion(outputs, y)  # error: TV117
    loss.backward()
    optimizer.step()
    print("Epoch: %d, loss: %1.5f" % (epoch, loss.item()))
