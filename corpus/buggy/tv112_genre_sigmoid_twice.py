"""Several genres per track; the model ends in a sigmoid that the loss applies, too."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self, n_features, n_tags, dropout=0.2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_features, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(dropout))
        self.tags = nn.Linear(32, n_tags)

    def forward(self, x):
        return torch.sigmoid(self.tags(self.body(x)))


class Lit:
    def __init__(self):
        self.model = Tagger(20, 6)
        self.criterion = nn.BCEWithLogitsLoss(pos_weight=torch.full((6,), 2.0))
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def training_step(self, batch):
        x, y = batch
        loss = self.criterion(self.model(x), y)  # error: TV112
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


data = TensorDataset(torch.randn(40, 20), (torch.rand(40, 6) > 0.7).float())
lit = Lit()
for batch in DataLoader(data, batch_size=10, shuffle=True):
    lit.training_step(batch)
