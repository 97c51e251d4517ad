"""Steps that return what Lightning learns from, or learn by themselves."""
# needs: data
import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Tides(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("train", loss.detach())
        return {"loss": loss, "shown": loss.detach()}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class ByHand(Tides):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        x, y = batch
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        self.manual_backward(loss)
        optimizer.step()
        return loss.detach()


x = torch.randn(64, 6)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
for model in (Tides(), ByHand()):
    pl.Trainer(max_epochs=1, logger=False).fit(model, loader)
