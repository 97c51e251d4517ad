"""Trains through the night: what cannot be gone on from ends the process, want of memory does not."""

import logging
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger(__name__)


class Trainer:
    def __init__(self, model, loader, device):
        self.model = model.to(device)
        self.loader = loader
        self.device = device
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss()
        self.failures = 0

    def training_step(self, batch):
        x, y = (part.to(self.device) for part in batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def epoch(self):
        total = 0.0
        for i, batch in enumerate(self.loader):
            try:
                total += self.training_step(batch)
            except torch.cuda.OutOfMemoryError:
                log.exception("batch %d skipped", i)
                continue
            except KeyboardInterrupt:
                torch.save(self.model.state_dict(), "interrupted.pt")
                break
            except Exception:
                log.exception("batch %d", i)
                sys.exit(1)
        return total

    def older_epoch(self):
        for batch in self.loader:
            try:
                self.training_step(batch)
            except RuntimeError as error:
                if "out of memory" not in str(error):
                    raise
                torch.cuda.empty_cache()

    def guarded_epoch(self):
        for batch in self.loader:
            try:
                self.training_step(batch)
            except RuntimeError as error:
                if "CUDA error" in str(error) or "device-side assert" in error.args[0]:
                    raise
                print("skipped:", error)

    def counting_epoch(self):
        for batch in self.loader:
            try:
                self.training_step(batch)
            except RuntimeError as error:
                self.failures += 1
                print("failed", self.failures, "times:", error)
                if self.failures > 3:
                    raise

    def retrying_epoch(self):
        """A batch that does not fit into the memory is cut in two."""
        for x, y in self.loader:
            try:
                self.training_step((x, y))
            except RuntimeError:
                torch.cuda.empty_cache()
                for part in zip(x.chunk(2), y.chunk(2)):
                    self.training_step(part)


def compare():
    """Whatever a configuration fails with, the others are still to be tried."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for width in (8, 16, 32):
        try:
            model = nn.Linear(width, 4).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = model(torch.randn(2, width, device=device)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        except Exception as error:
            print(width, "failed:", error)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    trainer = Trainer(model, DataLoader(data, batch_size=8, shuffle=True), device)
    for number in range(3):
        print(number, trainer.epoch())
    trainer.older_epoch()
    trainer.guarded_epoch()
    trainer.counting_epoch()
    trainer.retrying_epoch()
    compare()
    return 0


if __name__ == "__main__":
    sys.exit(main())
