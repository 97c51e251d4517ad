"""Survival on a ship; what is missing is a category of its own."""
# needs: pandas
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

passengers = pd.DataFrame(
    {
        "deck": ["C", None, "E", "B", None, "C", "B", "E", None, "C"],
        "fare": [71.3, 7.9, 51.9, 80.0, 8.1, 30.5, 77.9, 26.6, 7.2, 35.5],
        "survived": [1, 0, 1, 1, 0, 0, 1, 0, 0, 1],
    }
)
deck = passengers["deck"].fillna("unknown").astype("category")
codes = deck.cat.codes.to_numpy().astype("int64")


class Survival(nn.Module):
    def __init__(self, decks):
        super().__init__()
        self.deck = nn.Embedding(decks, 3)
        self.head = nn.Linear(4, 1)

    def forward(self, deck, fare):
        return self.head(torch.cat([self.deck(deck), fare], dim=1)).squeeze(1)


fare = torch.tensor(passengers[["fare"]].values).float()
target = torch.tensor(passengers["survived"].values, dtype=torch.float32)
model = Survival(len(deck.cat.categories))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for deck_codes, fares, survived in DataLoader(TensorDataset(torch.from_numpy(codes), fare, target), batch_size=10):
    loss = nn.functional.binary_cross_entropy_with_logits(model(deck_codes, fares), survived)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
