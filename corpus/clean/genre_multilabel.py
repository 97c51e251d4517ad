"""A movie has several genres: multi-hot targets and one sigmoid for each."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

GENRES = ["action", "comedy", "drama", "horror", "romance"]
MOVIES = [
    ("Chase", ["action"]),
    ("Two Hearts", ["romance", "drama"]),
    ("Ha!", ["comedy"]),
    ("Dark House", ["horror", "drama"]),
    ("Everything", ["action", "comedy", "romance"]),
    ("Nothing", []),
]


class Posters(Dataset):
    def __init__(self, movies):
        self.movies = movies
        self.index = {g: i for i, g in enumerate(GENRES)}

    def __len__(self):
        return len(self.movies)

    def __getitem__(self, i):
        _, genres = self.movies[i]
        target = torch.zeros(len(GENRES))
        for g in genres:
            target[self.index[g]] = 1
        return torch.rand(3, 32, 32), target


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 5, stride=3)
        self.fc = nn.Linear(8 * 10 * 10, len(GENRES))

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).flatten(1))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
pos_weight = torch.tensor([2.0, 2.0, 1.5, 4.0, 2.0], device=device)
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(3):
    for posters, target in DataLoader(Posters(MOVIES), batch_size=3, shuffle=True):
        posters, target = posters.to(device), target.to(device)
        logits = net(posters)
        loss = criterion(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        predicted = torch.sigmoid(logits) > 0.5
        exact = (predicted == target.bool()).all(dim=1).float().mean()
    print(epoch, loss.item(), exact.item())
