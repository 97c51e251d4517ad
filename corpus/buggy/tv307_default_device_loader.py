# needs: cuda
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")

x = torch.randn(256, 6)
y = (x.sum(dim=1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)  # error: TV307
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
