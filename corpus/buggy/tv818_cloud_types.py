"""Training of a classifier of clouds, written for old versions of Lightning and torchmetrics."""
# needs: data
import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchmetrics
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor
from pytorch_lightning.callbacks import ModelCheckpoint as Checkpoint
from pytorch_lightning.metrics import ConfusionMatrix  # warning: TV818
from torchmetrics.functional import accuracy


class Clouds(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 10)
        self.accuracy = torchmetrics.Accuracy(num_classes=10)  # warning: TV818
        self.best = torchmetrics.Recall(task="multiclass", num_classes=10, compute_on_step=False)  # warning: TV818
        self.f1 = torchmetrics.F1(num_classes=10)  # warning: TV818
        self.confusion = ConfusionMatrix(10)

    def training_step(self, batch, index):
        x, y = batch
        scores = self.layer(x)
        self.log("accuracy", accuracy(scores, y))  # warning: TV818
        return F.cross_entropy(scores, y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def main():
    checkpoint = Checkpoint(
        filepath="clouds",  # warning: TV818
        save_top_k=1,
        save_function=None,  # warning: TV818
    )
    trainer = pl.Trainer(
        gpus=1,  # warning: TV818
        max_epoch=3,  # warning: TV818
        checkpoint_callback=checkpoint,  # warning: TV818
        callbacks=[EarlyStopping("accuracy", patient=3), LearningRateMonitor()],  # warning: TV818
    )
    data = torch.utils.data.TensorDataset(torch.rand(64, 16), torch.randint(10, (64,)))
    trainer.fit(Clouds(), torch.utils.data.DataLoader(data, batch_size=8))
    other = pl.Trainer.from_argparse_args(None)  # warning: TV818
    other.test(Clouds())


main()
