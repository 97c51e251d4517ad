import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from model import ToxicLSTM

LABELS = ["toxic", "obscene", "threat", "insult"]


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab-size", type=int, default=1000)
    parser.add_argument("--embed-dim", type=int, default=32)
    parser.add_argument("--hidden-size", type=int, default=24)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


def main(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    ids = torch.randint(1, args.vocab_size, (64, 20))
    labels = (torch.rand(64, len(LABELS)) > 0.8).float()
    loader = DataLoader(TensorDataset(ids, labels), batch_size=args.batch_size, shuffle=True)
    model = ToxicLSTM(args.vocab_size, args.embed_dim, args.hidden_size, len(LABELS)).to(device)
    loss_fn = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for ids, labels in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(ids.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    main(parse_args())
