# needs: cuda
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)).to(device)
valid = DataLoader(TensorDataset(torch.randn(50, 6), torch.arange(50) % 3), batch_size=10)


def validate(model, loader):
    model.eval()
    preds, trues = [], []
    with torch.no_grad():
        for x, y in loader:
            logits = model(x.to(device))
            pred = logits.argmax(dim=1)
            preds.append(pred.numpy())  # error: TV306
            trues.append(y.numpy())
    preds = np.concatenate(preds)
    trues = np.concatenate(trues)
    return (preds == trues).mean()


print("validation accuracy:", validate(model, valid))
