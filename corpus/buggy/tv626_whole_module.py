import os

import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
path = "/tmp/torchvet-whole-module.pt"
torch.save(model, path)
again = torch.load(path)  # error: TV626
os.remove(path)
