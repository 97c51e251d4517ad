import numpy as np
import torch
from torch import nn

# labels come from a binary file, one byte each
raw = bytes([0, 1, 2, 1, 0, 2, 2, 1, 0, 1, 2, 0])
labels = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
features = torch.from_numpy(np.random.default_rng(0).normal(size=(len(raw), 6)).astype(np.float32))

model = nn.Linear(6, 3)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    loss = loss_fn(model(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# a single sample, without a batch axis
single = loss_fn(model(features[0]), labels[0].long())
print(loss.item(), single.item())
