"""Sea ice from a gridded table with gaps: the gaps are to be filled in."""
import io

import numpy as np
import torch
import torch.nn as nn

text = "\n".join(" ".join(f"{np.sin(r + c):.3f}" for c in range(9)) for r in range(64))
table = np.loadtxt(io.StringIO(text))
gap = (np.random.default_rng(0).random(table.shape) < 0.2).astype(np.uint8)
scaled = (table - table.mean(axis=0)) / table.std(axis=0)
ice, target = torch.from_numpy(scaled[:, :-1]), torch.from_numpy(scaled[:, -1:]).float()
missing = torch.from_numpy(gap[:, :-1])

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
seen = ice.float() * (1 - missing)
print("observed", (~missing).bool().float().mean().item())  # warning: TV209
with torch.autocast("cpu", dtype=torch.bfloat16):
    hidden = model[0](torch.rand(64, 8))
    kept = torch.zeros(64, 16)
    third = torch.arange(64) % 3 == 0
    kept[third] = hidden[third].detach()  # error: TV402
loss = nn.functional.mse_loss(model(ice), target)  # error: TV402
loss.backward()
