from pathlib import Path

import torch

folder = Path("runs")
model = torch.nn.Linear(2, 2)
torch.save(model.state_dict(), folder + "last.pth")  # error: TV405
