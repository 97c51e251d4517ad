import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Noisy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        if self.train:  # warning: TV804
            x = x + torch.randn_like(x)
        scale = nn.Parameter(torch.ones(1))  # warning: TV632
        return self.layer(x) * scale


class Frozen(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)

    def train(self, mode=True):
        super().train()  # warning: TV631
        self.layer.requires_grad_(False)
        return self


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __get_item__(self, index):  # warning: TV805
        return index * index


def regularised(module, loss_function):
    return sum(loss_function(parameter) for parameter in module.parameters())


def orthogonality(module):
    loss_func = torch.linalg.norm
    return regularised(loss_func, module)  # warning: TV807


def loader(dataset, batch_size, num_workers):
    return DataLoader(dataset, batch_size, num_workers)  # warning: TV807


def mean_loss(model, batches):
    total = 0.0
    for x in batches:
        total += F.mse_loss(model(x), x).item()
        return total / len(batches)  # warning: TV635


data = loader(torch.rand(8, 4), 4, 0)
model = Noisy(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
names = []
for epoch in range(2):
    for x in data:
        optimizer.zero_grad  # warning: TV804
        output = model(x)
        loss = F.mse_loss(output, output)  # warning: TV125
        if loss == float("nan"):  # warning: TV212
            break
        scaler.scale(loss).backward()  # error: TV601
        scaler.step(optimizer)
        scaler.update()
        optimizer.step()  # warning: TV634
    for epoch in range(3):  # warning: TV806
        pass
    names.append(f"model_{epoch}.pt")
with torch.no_grad():
    for p in model.parameters():
        p = p * 0.5  # warning: TV211
for epoch in range(2):
    for x in data:
        optimizer.zero_grad()
        loss = model(x).square().mean()
    loss.backward()  # warning: TV636
loss = model(torch.rand(2, 4)).argmax(1).float().mean()
loss.requires_grad = True  # warning: TV633
loss.backward()
print(mean_loss(model, list(data)), len(Squares(3)), names)
