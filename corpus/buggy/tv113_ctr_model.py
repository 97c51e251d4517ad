"""Click-through rate with a wide and a deep part."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

FIELD_SIZES = [50, 20, 10]


class Impressions(Dataset):
    def __init__(self, n=256):
        g = torch.Generator().manual_seed(9)
        self.fields = torch.stack([torch.randint(0, s, (n,), generator=g) for s in FIELD_SIZES], dim=1)
        self.clicked = torch.randint(0, 2, (n,), generator=g).float()

    def __len__(self):
        return len(self.clicked)

    def __getitem__(self, i):
        return self.fields[i], self.clicked[i]


class WideDeep(nn.Module):
    def __init__(self, sizes, dim=8):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(s, dim) for s in sizes)
        self.deep = nn.Sequential(
            nn.Linear(dim * len(sizes), 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, fields):
        parts = [emb(fields[:, k]) for k, emb in enumerate(self.embeddings)]
        score = self.deep(torch.cat(parts, dim=1))
        return score.squeeze(-1)


def train(model, loader, epochs=2):
    bce = nn.BCELoss()
    optim = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        for fields, clicked in loader:
            p = model(fields)
            loss = bce(p, clicked)  # error: TV113
            optim.zero_grad()
            loss.backward()
            optim.step()
        print(epoch, loss.item())


torch.manual_seed(0)
train(WideDeep(FIELD_SIZES), DataLoader(Impressions(), batch_size=64, shuffle=True))
