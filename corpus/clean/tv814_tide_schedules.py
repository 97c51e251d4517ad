"""Schedules for Lightning."""
# needs: data
import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR


class Tides(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, index):
        x, y = batch
        return F.mse_loss(self.layer(x), y)


class Pair(Tides):
    """Derived from a class of this file: not checked."""

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1), torch.optim.SGD(self.parameters(), lr=0.1)


class Stepwise(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, index):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        scheduler = StepLR(optimizer, step_size=10)
        return [optimizer], [scheduler]


class Lists(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, index):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizers = [torch.optim.Adam(self.parameters())]
        schedulers = [StepLR(optimizers[0], step_size=10)]
        return optimizers, schedulers


class Plateau(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, index):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        scheduler = ReduceLROnPlateau(optimizer, patience=3)
        return {"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "loss"}


class Inner(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, index):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        scheduler = {"scheduler": ReduceLROnPlateau(optimizer), "interval": "epoch"}
        scheduler["monitor"] = "loss"
        return [optimizer], [scheduler]
