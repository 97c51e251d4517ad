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
        print("resumed with", len(package), "parts")
        self.optimizer.load_state_dict(package["optimizer"])

    # Older files contain only the weights.
    def load_weights(self, path):
        weights = torch.load(path, weights_only=True)
        if "model" in weights:
            self.model.load_state_dict(weights["model"])
        else:
            self.model.load_state_dict(weights)

    # The name is assigned again between the two calls.
    def resume_by_parts(self, path):
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        state = state["optimizer"]
        self.optimizer.load_state_dict(state)


# Only the weights remain after `pop`.
def load_flat(net, optimizer, path):
    flat = torch.load(path, weights_only=True)
    optimizer.load_state_dict(flat["optimizer"])
    flat.pop("optimizer")
    net.load_state_dict(flat)


path = tempfile.mkdtemp() + "/last.pt"
trainer = Trainer()
trainer.train(3)
trainer.save(path)
resumed = Trainer()
resumed.resume(path)
resumed.load_weights(path)
resumed.resume_by_parts(path)
flat_path = path.replace("last", "flat")
torch.save({**trainer.model.state_dict(), "optimizer": trainer.optimizer.state_dict()}, flat_path)
load_flat(resumed.model, resumed.optimizer, flat_path)
