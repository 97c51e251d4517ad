"""Training of a classifier of clouds, with the arguments of Lightning 2 and torchmetrics 1."""
# needs: data
import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchmetrics
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor
from pytorch_lightning.callbacks import ModelCheckpoint as Checkpoint
from torchmetrics import ConfusionMatrix
from torchmetrics.functional import accuracy

try:
    from pytorch_lightning.metrics import Metric
except ImportError:
    from torchmetrics import Metric
try:
    from pytorch_lightning import seed_everything
except ImportError:
    from pytorch_lightning.utilities.seed import seed_everything


class Trainer:
    """A class of the program itself."""

    def __init__(self, gpus):
        self.gpus = gpus


class Clouds(pl.LightningModule):
    def __init__(self, task, settings):
        super().__init__()
        self.layer = nn.Linear(16, 10)
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=10)
        self.best = torchmetrics.Recall(task, num_classes=10)
        self.f1 = torchmetrics.F1Score(**settings)
        self.confusion = ConfusionMatrix("multiclass", num_classes=10)

    def training_step(self, batch, index):
        x, y = batch
        scores = self.layer(x)
        self.log("accuracy", accuracy(scores, y, "multiclass", num_classes=10))
        return F.cross_entropy(scores, y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def main(settings):
    checkpoint = Checkpoint(dirpath="clouds", save_top_k=1)
    trainer = pl.Trainer(
        accelerator="gpu",
        devices=Trainer(gpus=1).gpus,
        max_epochs=3,
        callbacks=[checkpoint, EarlyStopping("accuracy", patience=3), LearningRateMonitor()],
        **settings,
    )
    model = Clouds("multiclass", {"task": "multiclass", "num_classes": 10})
    data = torch.utils.data.TensorDataset(torch.rand(64, 16), torch.randint(10, (64,)))
    trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=8))


main({})
