"""Classify weather regimes from pressure maps."""
import torch
import torch.nn as nn

torch.manual_seed(0)
N, CLASSES = 96, 4

maps = torch.randn(N, 64)
regime = torch.arange(N) % CLASSES
target = regime

mlp = nn.Sequential(
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Dropout(p=0.2),
    nn.Linear(32, CLASSES),
)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(mlp.parameters(), lr=1e-2)

mlp.train()
for epoch in range(30):
    perm = torch.randperm(N)
    for start in range(0, N, 32):
        idx = perm[start : start + 32]
        out = mlp(maps[idx])
        loss = loss_fn(out, target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

mlp.eval()
with torch.no_grad():
    acc = (mlp(maps).argmax(dim=-1) == regime).float().mean().item()
print(f"train accuracy {acc:.2%}")
