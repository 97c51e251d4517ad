import argparse
import contextlib

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accum-steps", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--fp16", action="store_true")
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(torch.randn(64, 20), torch.randint(0, 6, (64,)))
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(nn.Linear(20, 40), nn.LayerNorm(40), nn.GELU(), nn.Linear(40, 6)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=args.fp16)
    criterion = nn.CrossEntropyLoss()

    optimizer.zero_grad()
    for epoch in range(args.epochs):
        running = 0.0
        for i, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            context = torch.autocast(device.type) if args.fp16 else contextlib.nullcontext()
            with context:
                loss = criterion(model(x), y) / args.accum_steps
            scaler.scale(loss).backward()
            running += loss.item()
            if (i + 1) % args.accum_steps == 0 or i + 1 == len(loader):
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
        print(epoch, running * args.accum_steps / len(loader))


if __name__ == "__main__":
    main()
