"""Metric learning: ArcFace margin with scatter_ over speaker ids from file names."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

FILES = [f"spk{100 + i:03d}_utt{j}.wav" for i in range(8) for j in range(4)]
SPEAKERS = sorted({f.split("_")[0] for f in FILES})
spk2idx = {s: i for i, s in enumerate(SPEAKERS)}


class VoiceSet(Dataset):
    def __len__(self):
        return len(FILES)

    def __getitem__(self, i):
        name = FILES[i].split("_")[0]
        label = spk2idx[name]
        return torch.randn(40, 100), label


class ArcMargin(nn.Module):
    def __init__(self, in_features, out_features, s=30.0, m=0.5):
        super().__init__()
        self.s, self.m = s, m
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.cos_m, self.sin_m = math.cos(m), math.sin(m)

    def forward(self, x, label):
        cosine = F.linear(F.normalize(x), F.normalize(self.weight))
        sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(0, 1))
        phi = cosine * self.cos_m - sine * self.sin_m
        one_hot = torch.zeros_like(cosine)
        one_hot.scatter_(1, label.view(-1, 1).long(), 1)
        return self.s * (one_hot * phi + (1.0 - one_hot) * cosine)


class Encoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(40, 64, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, d))

    def forward(self, x):
        return self.net(x)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
encoder, head = Encoder().to(device), ArcMargin(32, len(SPEAKERS)).to(device)
opt = torch.optim.Adam(list(encoder.parameters()) + list(head.parameters()), lr=1e-3)
for x, y in DataLoader(VoiceSet(), batch_size=8, shuffle=True):
    x, y = x.to(device), y.to(device)
    loss = F.cross_entropy(head(encoder(x), y), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
