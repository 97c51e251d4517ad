"""Customer churn (yes/no) with a small MLP."""
import argparse

import torch
import torch.nn as nn


class ChurnNet(nn.Module):
    def __init__(self, n_in, p_drop):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, 32),
            nn.ReLU(),
            nn.Dropout(p_drop),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x)


def synthetic_customers(n, n_in):
    x = torch.randn(n, n_in)
    churned = (x[:, 0] + 0.3 * x[:, 1] > 0.8).float()
    return x, churned.unsqueeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--features", type=int, default=9)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=10)
    opt = parser.parse_args()

    torch.manual_seed(0)
    x, y = synthetic_customers(opt.n, opt.features)
    model = ChurnNet(opt.features, opt.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(opt.epochs):
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        print(f"{epoch} loss={loss.item():.4f}")


if __name__ == "__main__":
    main()
