"""Tabular net with batch norm; 65 patients in batches of 16."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

PATIENTS = 65
BATCH = 16


class TabNet(nn.Module):
    def __init__(self, n_in=10, n_out=2):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 32)
        self.bn = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, n_out)

    def forward(self, x):
        x = torch.relu(self.bn(self.fc1(x)))  # error: TV406
        return self.fc2(x)


dataset = TensorDataset(torch.randn(PATIENTS, 10), torch.randint(0, 2, (PATIENTS,)))
loader = DataLoader(dataset, batch_size=BATCH, shuffle=True)
net = TabNet()
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss()

net.train()
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
