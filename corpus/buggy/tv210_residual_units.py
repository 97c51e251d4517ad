"""A stack of units whose results are lost, and a dropout without effect."""
import torch
import torch.nn as nn


class Stack(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.units = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for unit in self.units:
            unit = unit(x)  # warning: TV806
        self.dropout(x)  # warning: TV210
        return self.head(x)


def rectify(batch):
    for part in batch:
        part = torch.relu(part)  # warning: TV806
    return batch


def main():
    model = Stack()
    path = "stack.pt"
    torch.save(model.state_dict, path)  # warning: TV804
    torch.save({"model": model.state_dict, "epoch": 1}, path)  # warning: TV804
    x, _ = rectify([torch.randn(4, 8), torch.zeros(4)])
    print(model(x).shape)


main()
