"""The norm of the scaled gradients is computed with a limit that clips nothing, and then divided."""
import torch
from torch import nn

model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.arange(4) % 2)
    scaler.scale(loss).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf")) / scaler.get_scale()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(loss.item(), norm.item() > 0)
