"""Tabular: cardinalities from a dict of lists, codes shifted by one for NaN, table not."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

ROWS = [
    ("private", "bachelors", 39, 0), ("gov", "masters", 50, 1), ("self", "hs", 38, 0),
    ("private", "phd", 53, 1), ("gov", "hs", 28, 0), ("self", "masters", 37, 1),
]
CAT_COLS = [0, 1]


class Encoder:
    def fit(self, values):
        self.classes_ = sorted(set(values))
        self.lookup = {v: i + 1 for i, v in enumerate(self.classes_)}
        return self

    def transform(self, values):
        return [self.lookup.get(v, 0) for v in values]


encoders = {c: Encoder().fit([r[c] for r in ROWS]) for c in CAT_COLS}


class AdultDataset(Dataset):
    def __init__(self, rows):
        self.cats = np.stack([encoders[c].transform([r[c] for r in rows]) for c in CAT_COLS], axis=1).astype(np.int64)
        self.conts = np.array([[r[2]] for r in rows], dtype=np.float32)
        self.y = np.array([r[3] for r in rows], dtype=np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.cats[i], self.conts[i], self.y[i]


class TabularModel(nn.Module):
    def __init__(self, emb_szs, n_cont):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in emb_szs])
        n_emb = sum(nf for _, nf in emb_szs)
        self.bn = nn.BatchNorm1d(n_cont)
        self.lin = nn.Sequential(nn.Linear(n_emb + n_cont, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x_cat, x_cont):
        x = [e(x_cat[:, i]) for i, e in enumerate(self.embeds)]
        x = torch.cat(x, 1)
        return self.lin(torch.cat([x, self.bn(x_cont)], 1))


cat_szs = [len(encoders[c].classes_) + 1 for c in CAT_COLS]
emb_szs = [(size, min(50, (size + 1) // 2)) for size in cat_szs]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = TabularModel(emb_szs, 1).to(device)
opt = torch.optim.Adam(model.parameters())
loss_fn = nn.BCEWithLogitsLoss()
for x_cat, x_cont, y in DataLoader(AdultDataset(ROWS), batch_size=3):
    x_cat, x_cont, y = x_cat.to(device), x_cont.to(device), y.to(device)
    opt.zero_grad()
    loss = loss_fn(model(x_cat, x_cont).squeeze(1), y)
    loss.backward()
    opt.step()
