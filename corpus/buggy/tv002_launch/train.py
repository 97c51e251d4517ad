"""Fine-tunes a head, with what was left of a debugging session."""
import os

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # warning: TV002
os.environ.setdefault("TORCH_USE_CUDA_DSA", "1")  # warning: TV004

import torch
import torch.nn as nn

os.environ["MKL_NUM_THREADS"] = "2"  # error: TV003


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


trainer = Trainer(nn.Linear(6, 3), 1e-3)
for step in range(3):
    print(step, trainer.step(torch.randn(5, 6), torch.randint(3, (5,))))
