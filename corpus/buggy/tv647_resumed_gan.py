"""A model that goes on with the training of an earlier run."""
import tempfile

import torch
import torch.nn as nn

torch.manual_seed(0)


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def train(self, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(torch.randn(8, 4)), torch.randint(2, (8,)))
            loss.backward()
            self.optimizer.step()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, path)

    def resume(self, path):
        package = torch.load(path, weights_only=True)
        self.model.load_state_dict(package["model"])
        print("resumed from", path)
        self.optimizer.load_state_dict(package)  # warning: TV647


path = tempfile.mkdtemp() + "/last.pt"
trainer = Trainer()
trainer.train(3)
trainer.save(path)
resumed = Trainer()
try:
    resumed.resume(path)
except KeyError as error:
    print("the optimizer lacks", error)
