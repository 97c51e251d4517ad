"""A stack of units, each applied to the result of the one before."""
import torch
import torch.nn as nn


class Stack(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.units = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.dropout = nn.Dropout(0.2)
        self.in_place = nn.Dropout(0.2, inplace=True)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for unit in self.units:
            x = unit(x)
        x = self.dropout(x).clone()
        self.in_place(x)
        for make in (torch.zeros_like, torch.ones_like):
            made = make(x)
            x = x + made
        return self.head(x)


def move(batch, device):
    moved = []
    for part in batch:
        part = part.to(device)
        moved.append(part)
    for part in moved:
        part = torch.relu(part)
    print(part.shape)
    for layer in (nn.Linear(1, 1), nn.Linear(2, 2)):
        layer = layer.to(device)
    return moved


def main():
    model = Stack()
    path = "stack.pt"
    torch.save(model.state_dict(), path)
    read = model.state_dict
    torch.save({"model": read(), "epoch": 1}, path)
    x, _ = move([torch.randn(4, 8), torch.zeros(4)], torch.device("cpu"))
    print(model(x).shape)


main()
