import torch
import torch.nn as nn


class Mixer(nn.Module):
    def __init__(self, width, dropout=0.1, heads=2):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        mixed, _ = self.attention(x, x, x)
        return self.norm(x + mixed)


class Encoder(nn.Module):
    def __init__(self, width, dropout=0.1):
        super().__init__()
        self.project = nn.Linear(6, width)
        self.mixer = Mixer(width, dropout, heads=4)
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.mixer(self.project(x)).mean(dim=1))


def fit(model, batches, rate=1e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    criterion = nn.CrossEntropyLoss()
    for signals, species in batches:
        optimizer.zero_grad()
        criterion(model(signals), species).backward()
        optimizer.step()


def search(batches, rate=1e-3):
    for dropout in (0.0, 0.3):
        model = Encoder(8, dropout=dropout)
        fit(model, batches, rate)
        print(dropout, sum(p.numel() for p in model.parameters()))


search([(torch.rand(4, 5, 6), torch.randint(0, 3, (4,))) for _ in range(2)])
