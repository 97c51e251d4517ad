"""Sea ice from a gridded table with gaps: the gaps are to be filled in."""
import io

import numpy as np
import torch
import torch.nn as nn

text = "\n".join(" ".join(f"{np.sin(r + c):.3f}" for c in range(9)) for r in range(64))
table = np.loadtxt(io.StringIO(text), dtype=np.float32)
gap = (np.random.default_rng(0).random(table.shape) < 0.2).astype(np.uint8)
scaled = (table - table.mean(axis=0)) / table.std(axis=0)
ice, target = torch.from_numpy(scaled[:, :-1]), torch.from_numpy(scaled[:, -1:])
missing = torch.from_numpy(gap[:, :-1])

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
seen = ice * (1 - missing)
print("observed", (missing == 0).float().mean().item(), (~missing.bool()).sum().item())
with torch.autocast("cpu", dtype=torch.bfloat16):
    hidden = model[0](torch.rand(64, 8))
    kept = torch.zeros(64, 16)
    rows = torch.randperm(64)[:32]
    kept[rows] = hidden[rows].detach().to(kept.dtype)
    # PyTorch casts a single value and the values for a slice.
    kept[target[:, 0] > 0] = hidden.mean().detach()
    kept[:32] = hidden[:32].detach()
    same = torch.zeros(64, 16, dtype=hidden.dtype)
    same[target[:, 0] > 0] = hidden[target[:, 0] > 0].detach()
loss = nn.functional.mse_loss(model(ice), target)
loss.backward()

# Other ways to read a table; with `names`, NumPy returns records.
double = np.genfromtxt(io.StringIO(text))
records = np.genfromtxt(io.StringIO("a b\n1 2\n3 4"), names=True)
counts = np.loadtxt(io.StringIO("1 2\n3 4"), dtype=int)
print(model(torch.from_numpy(double[:, :-1]).float()).shape, records["a"], torch.from_numpy(counts).dtype)
# The bits are flipped on purpose.
print((~torch.tensor([5, 250], dtype=torch.uint8)).tolist(), (~torch.arange(3)).tolist())
lowest = ~missing & 1
none = torch.zeros(3, dtype=torch.uint8)
print(lowest.sum().item(), (~none & (target[:3, 0] > 0)).tolist())
