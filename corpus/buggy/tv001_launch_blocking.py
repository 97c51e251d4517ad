"""Train a toy model, with synchronous kernels while I look for a crash."""
import torch
import torch.nn as nn
import os

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # info: TV001

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(5):
    x = torch.randn(16, 10, device=device)
    y = torch.randint(0, 4, (16,), device=device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
