"""Loss scaling with the steps in the wrong order, on whatever device there is."""
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(8, 2)
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler("cpu")


def step(x, y, clip):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    if clip:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # error: TV614
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()  # error: TV614
    return loss.item()


for i in range(3):
    print(i, step(torch.randn(4, 8), torch.arange(4) % 2, clip=True), step(torch.randn(4, 8), torch.arange(4) % 2, clip=False))
