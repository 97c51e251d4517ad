"""A small decoder , trained and tested with Lightning."""
# needs: data
import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Decoder(nn.Module):
    def __init__(self, widths=(8, 4)):
        super().__init__()
        self.steps = nn.ModuleList()
        for width in widths:
            self.steps.append(
                nn.Upsample(scale_factor=2)
            )
            self.steps.append(nn.Conv2d(8, 8, 3, padding=1))
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        for step in range(0, len(self.steps), 2):
            x = self.steps[step](x)
            x = self.steps[step + 1](x)
        return self.head(x)


class Learner(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Decoder()

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.model(x), y)

    def test_step(self, batch, batch_idx):
        x, y = batch
        self.log("accuracy", (self.model(x).argmax(dim=1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(8, 8, 4, 4), torch.randint(0, 2, (8, 16, 16)))
    loader = DataLoader(data, batch_size=4)
    learner = Learner()
    trainer = pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False)
    trainer.fit(learner, loader)
    trainer.test(learner, loader)


if __name__ == "__main__":
    main()
