"""A frozen encoder with a new head."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Transfer(nn.Module):
    def __init__(self, require_grad=False):
        super().__init__()
        self.require_grad = require_grad
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.encoder(x))


class Settings:
    pass


args = Settings()
args.require_grad = False
model = Transfer()
for params in model.encoder.parameters():
    params.requires_grad = False
for name, parameter in model.named_parameters():
    if "bias" in name:
        parameter.requires_grad = "head" in name
model.encoder[0].weight.requires_grad_(False)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(torch.randn(4, 8)), torch.randint(0, 2, (4,)))
    loss.backward()
    optimizer.step()
