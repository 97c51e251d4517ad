import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
data = np.random.randn(90, 14)
data[:, 13] = np.arange(90) % 3

X = data[:, :13].astype("float32")
y = data[:, 13].reshape(-1, 1).astype("int64")

ds = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
dl = DataLoader(ds, batch_size=15, shuffle=True)


class Wine(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(13, 10)
        self.l2 = nn.Linear(10, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.l2(self.act(self.l1(x)))


net = Wine()
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for inputs, target in dl:
        optimizer.zero_grad()
        output = net(inputs)
        loss = loss_function(output, target)  # error: TV104
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
