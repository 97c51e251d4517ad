"""A list of validation loaders: each batch of each loader is a batch of its own. Several training
loaders give a list or a dictionary of their batches."""
# needs: data
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        inputs, targets = batch
        loss = nn.functional.cross_entropy(self.layer(inputs), targets.view(-1))
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Listed(Net):
    def training_step(self, batch, batch_idx):
        (inputs, targets), (others,) = batch
        loss = nn.functional.cross_entropy(self.layer(inputs), targets)
        return loss + self.layer(others).mean()


class Named(Net):
    def training_step(self, batch, batch_idx):
        inputs, targets = batch["labelled"]
        loss = nn.functional.cross_entropy(self.layer(inputs), targets)
        return loss + self.layer(batch["plain"][0]).mean()

    def train_dataloader(self):
        return {"labelled": labelled, "plain": plain}

    def val_dataloader(self):
        return [labelled]


labelled = DataLoader(TensorDataset(torch.randn(32, 4), torch.randint(3, (32,))), batch_size=8)
plain = DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=8)
trainer = L.Trainer(max_epochs=1)
trainer.fit(Listed(), [labelled, plain], val_dataloaders=[labelled])
trainer.fit(Listed(), [labelled, plain], val_dataloaders=[labelled, labelled])
trainer.fit(Named())
