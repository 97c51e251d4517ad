"""Centre loss on face embeddings: one centre for each person."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PEOPLE = ["ada", "ben", "cleo", "dan", "eve"]


class Faces(Dataset):
    def __init__(self, per_person=4):
        self.samples = [(torch.randn(64), PEOPLE.index(name) + 1) for name in PEOPLE for _ in range(per_person)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


class CentreLoss(nn.Module):
    def __init__(self, num_classes, dim, weight=0.01):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(num_classes, dim))
        self.weight = weight

    def forward(self, embeddings, labels):
        distance = (embeddings - self.centres[labels]).pow(2).sum(dim=1)  # error: TV207
        return self.weight * distance.mean()


def train(epochs=2, dim=16):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, dim)).to(device)
    criterion = CentreLoss(len(PEOPLE), dim).to(device)
    parameters = list(encoder.parameters()) + list(criterion.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(epochs):
        for features, labels in DataLoader(Faces(), batch_size=20, shuffle=True):
            features, labels = features.to(device), labels.to(device)
            loss = criterion(F.normalize(encoder(features), dim=1), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


train()
