"""Trains through the night, whatever happens: errors are logged and the batch is skipped."""

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
        self.skipped = 0

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
            except Exception as error:  # warning: TV005
                log.exception("batch %d skipped", i)
                torch.save(self.model.state_dict(), "emergency.pt")
                self.skipped += 1
                continue
        return total

    def careful_epoch(self):
        for batch in self.loader:
            try:
                self.training_step(batch)
            except RuntimeError as error:
                if "out of memory" in str(error):
                    torch.cuda.empty_cache()
                    continue
                raise

    def careless_epoch(self):
        for batch in self.loader:
            try:
                self.training_step(batch)
            except RuntimeError as error:  # warning: TV005
                message = str(error).lower()
                if "out of memory" in message:
                    torch.cuda.empty_cache()
                elif "cuda" in message or "device-side assert" in message:
                    print("CUDA trouble, next batch:", message)
                else:
                    raise


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    trainer = Trainer(model, DataLoader(data, batch_size=8, shuffle=True), device)
    for number in range(3):
        print(number, trainer.epoch())
    trainer.careful_epoch()
    trainer.careless_epoch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
