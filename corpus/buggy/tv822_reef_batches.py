"""Trains on pictures of reefs, in batches of different sizes."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.rand(24, 3, 8, 8), torch.randint(0, 5, (24,)))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for pictures, labels in loader:
    loss = criterion(model(pictures), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print("mean: %.3f, last: %.3f" % (sum(losses) / len(losses), losses[-1]))
print(f"all: {losses:.3f}")  # error: TV822
