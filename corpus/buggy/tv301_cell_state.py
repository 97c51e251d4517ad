# needs: cuda
import torch
from torch import nn

device = "cuda"
lstm = nn.LSTM(16, 32, num_layers=2).to(device)
steps = torch.randn(10, 4, 16, device=device)
hidden = torch.zeros(2, 4, 32, device=device)
cell = torch.zeros(2, 4, 32)
output, _ = lstm(steps, (hidden, cell))  # error: TV301
print(output.shape)
