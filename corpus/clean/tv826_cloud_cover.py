"""Training of a model of the cover of clouds, with a checkpoint of the best epoch."""
# needs: data
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint


class CloudCover(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def step(self, batch, stage):
        loss = torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log(f"{stage}_cover", loss)
        return loss

    def training_step(self, batch, index):
        return self.step(batch, "train")

    def validation_step(self, batch, index):
        self.step(batch, "val")

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": scheduler, "monitor": "val_cover"},
        }


def callbacks():
    best = ModelCheckpoint(monitor="val_cover_epoch", mode="min")
    last = ModelCheckpoint(monitor="step", mode="max")
    patience = EarlyStopping("val_cover", patience=3)
    return [best, last, patience]
