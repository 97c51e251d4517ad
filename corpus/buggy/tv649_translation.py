"""A small translation model in mixed precision."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randint(20, (32, 6)), torch.randint(20, (32, 6)))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 20))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")

for epoch in range(2):
    for source, target in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(source)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), target.flatten())
        scaler.scale(loss).backward()
        try:
            scaler.update()  # warning: TV649
            scaler.step(optimizer)
        except AssertionError as error:
            print(error)
    print(epoch, loss.item())
