import argparse

import torch
import torch.nn as nn


def build(args):
    if args.task == "binary":
        head = nn.Linear(16, 1)
        criterion = nn.BCEWithLogitsLoss()
        prepare = lambda y: (y > 0).float().unsqueeze(1)
    elif args.task == "regression":
        head = nn.Linear(16, 1)
        criterion = nn.MSELoss()
        prepare = lambda y: y.float().unsqueeze(1)
    else:
        head = nn.Linear(16, args.num_classes)
        criterion = nn.CrossEntropyLoss()
        prepare = lambda y: y
    return nn.Sequential(nn.Linear(9, 16), nn.ReLU(), head), criterion, prepare


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=["binary", "regression", "multiclass"], default="multiclass")
    parser.add_argument("--num-classes", type=int, default=4)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--device", default=None)
    args = parser.parse_args()

    if args.device is None:
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    model, criterion, prepare = build(args)
    model = model.to(args.device)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(args.steps):
        x = torch.randn(12, 9).to(args.device)
        y = torch.randint(args.num_classes, (12,)).to(args.device)
        out = model(x)
        loss = criterion(out, prepare(y))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
