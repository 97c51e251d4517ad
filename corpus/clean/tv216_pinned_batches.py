"""Keeps features on the device of the model; types of devices are compared."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Encoder(nn.Module):
    def __init__(self, width=16, place="cpu"):
        super().__init__()
        self.place = place
        self.layer = nn.Linear(8, width)

    def where(self):
        if next(self.parameters()).device.type == "cpu":
            return "host"
        return "device"

    def forward(self, x):
        if self.place == "cpu" and x.device == torch.device("cpu"):
            x = x.contiguous()
        return self.layer(x).relu()


def move(batch, target="cpu"):
    if target == "cpu":
        return batch
    return [part.to(target) for part in batch]


def main():
    data = TensorDataset(torch.randn(32, 8), torch.randint(4, (32,)))
    model = Encoder().to(device)
    head = nn.Linear(16, 4).to(device)
    for batch in DataLoader(data, batch_size=8):
        x, y = move(batch, str(device))
        if str(device) != "cpu":
            x, y = x.to(device), y.to(device)
        loss = nn.functional.cross_entropy(head(model(x)), y)
        loss.backward()
    print(model.where() in ("host", "device"))


main()
