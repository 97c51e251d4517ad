import torch
import torch.nn as nn


class Stacked(nn.Module):
    def __init__(self, layers, device):
        super().__init__()
        self.device = device
        self.layers = list()  # error: TV304
        for _ in range(layers):
            self.layers.append(nn.Linear(8, 8))
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        for layer in self.layers:
            layer.to(self.device)
            x = layer(x).relu()
        return self.out(x)


model = Stacked(3, "cpu")
optimizer = torch.optim.Adam(model.parameters())
optimizer.zero_grad()
model(torch.randn(5, 8)).sum().backward()
optimizer.step()
