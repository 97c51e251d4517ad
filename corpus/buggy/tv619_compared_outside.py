import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images, labels = torch.randn(48, 3, 8, 8), torch.arange(48) % 5
train = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
valid = DataLoader(TensorDataset(images, labels), batch_size=8)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for x, y in train:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    correct = 0
    for x, y in valid:
        with torch.no_grad():
            predicted = model(x).argmax(dim=1)  # warning: TV619
        correct += (predicted == y).sum().item()
    print(epoch, correct / 48)
