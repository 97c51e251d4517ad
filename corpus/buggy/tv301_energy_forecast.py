# needs: cuda
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

hours = torch.arange(0, 24 * 20, dtype=torch.float32)
load = torch.sin(hours / 24 * 6.283) + 0.1 * torch.randn(len(hours))
windows = load.unfold(0, 25, 1)
dataset = TensorDataset(windows[:, :24], windows[:, 24:])
loader = DataLoader(dataset, batch_size=32, shuffle=True)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(24, 48)
        self.fc2 = nn.Linear(48, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


model = Forecaster().to(device)
criterion = nn.L1Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(2):
    for window, target in loader:
        optimizer.zero_grad()
        target = target.to(device)
        output = model(window)  # error: TV301
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
