import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(60, 6), torch.randn(60, 1)
train = DataLoader(TensorDataset(x[:40], y[:40]), batch_size=8, shuffle=True)
valid = DataLoader(TensorDataset(x[40:], y[40:]), batch_size=5)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()

for epoch in range(3):
    running = 0.0
    for inputs, targets in train:
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    total = 0.0
    for inputs, targets in valid:
        outputs = model(inputs)  # warning: TV619
        total += criterion(outputs, targets).item()
    print(epoch, running / len(train), total / len(valid))

# The same line trains and validates.
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def loss_of(inputs, targets):
    return criterion(model(inputs), targets)  # warning: TV619


for epoch in range(3):
    for inputs, targets in train:
        loss = loss_of(inputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(sum(loss_of(inputs, targets) for inputs, targets in valid))
