"""Stance of tweets; the labels are shifted, and a filtered copy keeps those that are opinions."""
# needs: pandas
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

STANCES = {"against": -1, "none": 0, "favor": 1}
WORDS = ["yes", "no", "maybe", "never", "always", "please"]


def tweets():
    rows = []
    for i in range(30):
        rows.append({"text": f"never {WORDS[i % 6]}", "stance": "against"})
        rows.append({"text": f"please {WORDS[i % 6]}", "stance": "favor"})
        rows.append({"text": f"maybe {WORDS[i % 6]}", "stance": "none"})
    return pd.DataFrame(rows)


class Tweets(Dataset):
    def __init__(self, frame):
        self.texts = frame["text"].tolist()
        self.labels = frame["stance"].map(STANCES).values + 1

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        words = [WORDS.index(word) for word in self.texts[i].split()]
        return torch.tensor(words), torch.tensor(self.labels[i], dtype=torch.long)


class Stance(nn.Module):
    def __init__(self, words, classes):
        super().__init__()
        self.embed = nn.Embedding(words, 8)
        self.head = nn.Linear(8, classes)

    def forward(self, words):
        return self.head(self.embed(words).mean(dim=1))


model = Stance(len(WORDS), len(STANCES))
optimizer = torch.optim.Adam(model.parameters())
for words, labels in DataLoader(Tweets(tweets().sample(frac=1)), batch_size=90):
    loss = nn.functional.cross_entropy(model(words), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# After the rows with -1 are removed, only the labels 0 and 1 remain.
frame = tweets()
frame["label"] = frame["stance"].map(STANCES)
frame = frame[frame["label"] >= 0]
kept = torch.tensor(frame["label"].values, dtype=torch.long)
print(nn.functional.cross_entropy(torch.randn(len(kept), 2), kept))

# The loss ignores -1.
ignored = tweets()["stance"].map(STANCES).to_numpy()
print(nn.functional.cross_entropy(torch.randn(90, 2), torch.tensor(ignored), ignore_index=-1))
