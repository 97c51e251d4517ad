# needs: pandas, sklearn
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, lengths, stars):
        self.lengths = torch.tensor(list(lengths))
        self.stars = stars

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return self.lengths[index], self.stars[index]


class ByPosition(Reviews):
    def __getitem__(self, index):
        return self.lengths[index], self.stars.iloc[index]


table = pd.DataFrame({"length": range(40), "stars": [n % 5 for n in range(40)]})
lengths, _, stars, _ = train_test_split(table["length"], table["stars"], test_size=10, random_state=0)
parts = [
    Reviews(lengths, stars.reset_index(drop=True)),
    Reviews(lengths, stars.tolist()),
    ByPosition(lengths, stars),
    Reviews(table["length"], table["stars"]),
]
for part in parts:
    for batch in DataLoader(part, batch_size=8):
        print(batch[0].shape, batch[1].shape)
