# needs: data, cuda
"""Train, and go on from the last checkpoint where there is one."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def load(path, model, optimizer):
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1


def main(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    start = load(args.resume, model, optimizer)
    data = TensorDataset(torch.randn(64, 10), torch.randint(0, 2, (64,)))
    for epoch in range(start, args.epochs):
        for x, y in DataLoader(data, batch_size=16, shuffle=True):
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, args.resume)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--resume", default="last.pt")
    main(parser.parse_args())
