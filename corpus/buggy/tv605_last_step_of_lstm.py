import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 12, 5), torch.randn(64, 1)), batch_size=8)
lstm, head = nn.LSTM(5, 16, batch_first=True), nn.Linear(16, 1)
optimizer = torch.optim.Adam(list(lstm.parameters()) + list(head.parameters()))
state = (torch.zeros(1, 8, 16), torch.zeros(1, 8, 16))
for x, y in loader:
    out, state = lstm(x, state)
    loss = (head(out[:, -1]) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # error: TV605
    optimizer.step()
