import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def mixed_loss(model, signals, kinds, mixup_alpha=None):
    if mixup_alpha is not None:
        lam = torch.distributions.Beta(mixup_alpha, mixup_alpha).sample()
        order = torch.randperm(len(signals))
        signals = lam * signals + (1 - lam) * signals[order]
    scores = model(signals)
    return lam * F.cross_entropy(scores, kinds)  # warning: TV812


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-train", action="store_true")
    parser.add_argument("--no-val", action="store_true")
    parser.add_argument("--mixup", type=float, default=0.4)
    opt = parser.parse_args()
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 5))
    loader = DataLoader(TensorDataset(torch.rand(80, 32), torch.randint(5, (80,))), batch_size=8)
    if not opt.no_train:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    for epoch in range(3):
        if not opt.no_train:
            for signals, kinds in loader:
                optimizer.zero_grad()
                mixed_loss(model, signals, kinds, opt.mixup).backward()
                optimizer.step()
        if not opt.no_val:
            with torch.no_grad():
                loss = sum(F.cross_entropy(model(s), k).item() for s, k in loader)
            scheduler.step(loss)  # warning: TV812


main()
