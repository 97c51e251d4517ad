import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 20


def train(model, loader, optimizer, scheduler):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()


loader = DataLoader(TensorDataset(torch.rand(40, 4), torch.rand(40, 1)), batch_size=10)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(loader))
for epoch in range(EPOCHS):
    train(model, loader, optimizer, scheduler)
