"""A checkpoint that the program itself has saved, and data."""
import os
import tempfile

import torch
import torch.nn as nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
path = os.path.join(tempfile.gettempdir(), "own_checkpoint.pt")
torch.save(model.state_dict(), path)
model.load_state_dict(torch.load(path))
data = torch.load(path)
print(data["weight"].shape)
