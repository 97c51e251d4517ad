"""Sounds of frogs by their features; each sample is read from its row of the table."""
# needs: pandas
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SPECIES = 4


def table(n=120):
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"pitch": rng.normal(size=n), "length": rng.gamma(2.0, size=n), "loudness": rng.random(n)})
    frame["species"] = [1, 2, 3, 4] * (n // 4)
    frame["place"] = ["pond", "river", "lake"] * (n // 3)
    return frame


class Calls(Dataset):
    def __init__(self, frame):
        self.frame = frame.sample(frac=1, random_state=0).reset_index(drop=True)

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        row = self.frame.iloc[index]
        features = row[["pitch", "length", "loudness"]].to_numpy(dtype=np.float32)
        return torch.from_numpy(features), torch.tensor(row["species"], dtype=torch.long)


model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, SPECIES))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
for features, species in DataLoader(Calls(table()), batch_size=30, shuffle=True):
    loss = criterion(model(features), species)  # error: TV103
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
