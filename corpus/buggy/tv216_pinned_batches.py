"""Keeps features on the device of the model; devices are compared with strings."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Encoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layer = nn.Linear(8, width)

    def where(self):
        if next(self.parameters()).device == "cpu":  # warning: TV216
            return "host"
        return "device"

    def forward(self, x):
        return self.layer(x).relu()


def main():
    data = TensorDataset(torch.randn(32, 8), torch.randint(4, (32,)))
    model = Encoder().to(device)
    head = nn.Linear(16, 4).to(device)
    for x, y in DataLoader(data, batch_size=8):
        if device != "cpu":  # warning: TV216
            x, y = x.to(device), y.to(device)
        loss = nn.functional.cross_entropy(head(model(x)), y)
        loss.backward()
    print(model.where() in ("host", "device"))


main()
