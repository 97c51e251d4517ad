"""Predict the cuisine from the ids of the ingredients; recipes have different lengths."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

RECIPES = [
    ([4, 17, 2, 9], 0),
    ([1, 3], 2),
    ([11, 12, 13, 5, 7, 8], 1),
    ([6, 0, 19], 2),
]


class Recipes(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, cuisine = self.rows[i]
        return {"ids": torch.tensor(ids), "label": cuisine}


class Collator:
    def __init__(self, pad_id=-1):
        self.pad_id = pad_id

    def __call__(self, samples):
        ids = nn.utils.rnn.pad_sequence([s["ids"] for s in samples], batch_first=True, padding_value=self.pad_id)
        labels = torch.tensor([s["label"] for s in samples])
        return ids, ids != self.pad_id, labels


class Bag(nn.Module):
    def __init__(self, vocab_size=20, dim=8, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.out = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        vectors = self.embed(ids) * mask.unsqueeze(-1)  # warning: TV202
        return self.out(vectors.sum(1) / mask.sum(1, keepdim=True))


def main():
    loader = DataLoader(Recipes(RECIPES), batch_size=4, shuffle=True, collate_fn=Collator())
    model = Bag()
    optimizer = torch.optim.Adam(model.parameters())
    for ids, mask, labels in loader:
        loss = nn.functional.cross_entropy(model(ids, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
