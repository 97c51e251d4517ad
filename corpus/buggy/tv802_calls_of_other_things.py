import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("e", "--epochs", type=int, default=2)  # error: TV802


def train(loader, val_loader, model):
    iter = 0
    for x, y in loader:
        iter += 1
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        if iter % 10 == 0:
            x, y = next(iter(val_loader))  # error: TV802


data = TensorDataset(torch.rand(8, 3), torch.rand(8, 1))
train(DataLoader(data), DataLoader(data), nn.Linear(3, 1))
