"""Stock LSTM with hidden state made for batch_size; last batch smaller."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

BATCH, SEQ, HID = 32, 10, 20
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_windows(series, seq_len):
    xs, ys = [], []
    for i in range(len(series) - seq_len):
        xs.append(series[i:i + seq_len])
        ys.append(series[i + seq_len])
    return np.array(xs, dtype=np.float32), np.array(ys, dtype=np.float32)


class LSTMForecast(nn.Module):
    def __init__(self, input_size, hidden, batch_size, layers=2):
        super().__init__()
        self.hidden = hidden
        self.layers = layers
        self.batch_size = batch_size
        self.lstm = nn.LSTM(input_size, hidden, layers, batch_first=True)
        self.linear = nn.Linear(hidden, 1)

    def init_hidden(self):
        h = torch.zeros(self.layers, self.batch_size, self.hidden, device=device)
        c = torch.zeros(self.layers, self.batch_size, self.hidden, device=device)
        return h, c

    def forward(self, x):
        out, _ = self.lstm(x, self.init_hidden())
        return self.linear(out[:, -1, :])


series = np.sin(np.linspace(0, 50, 500))
X, y = make_windows(series, SEQ)
X = torch.from_numpy(X).unsqueeze(-1)
y = torch.from_numpy(y).unsqueeze(-1)
loader = DataLoader(TensorDataset(X, y), batch_size=BATCH, shuffle=True, drop_last=True)
model = LSTMForecast(1, HID, BATCH).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in loader:
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad()
        pred = model(xb)
        loss = criterion(pred, yb)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
