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
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    print(epoch, loss.item())


# Two optimizers: the first update ends the pass of the first one.
def two_passes(first, second, scaler):
    optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (first, second)]
    for _ in range(2):
        x = torch.rand(4, 4)
        scaler.scale(first(x).mean()).backward()
        scaler.step(optimizers[0])
        scaler.update()
        optimizers[0].zero_grad()
        scaler.scale(second(x).mean()).backward()
        scaler.step(optimizers[1])
        scaler.update()
        optimizers[1].zero_grad()


# The update of one iteration is made at the beginning of the next one.
def late_update(model, scaler):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler.scale(model(torch.rand(4, 4)).mean()).backward()
    scaler.step(optimizer)
    for _ in range(2):
        scaler.update()
        optimizer.zero_grad()
        scaler.scale(model(torch.rand(4, 4)).mean()).backward()
        scaler.step(optimizer)
    scaler.update()


two_passes(nn.Linear(4, 1), nn.Linear(4, 1), torch.amp.GradScaler("cpu"))
late_update(nn.Linear(4, 1), torch.amp.GradScaler("cpu"))
