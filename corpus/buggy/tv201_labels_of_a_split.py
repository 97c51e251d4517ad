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
        return self.lengths[index], self.stars[index]  # warning: TV201


table = pd.DataFrame({"length": range(40), "stars": [n % 5 for n in range(40)]})
train_lengths, _, train_stars, _ = train_test_split(table["length"], table["stars"], test_size=10, random_state=0)
for lengths, stars in DataLoader(Reviews(train_lengths, train_stars), batch_size=8):
    print(lengths, stars)
