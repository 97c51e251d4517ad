"""Ids that are not 0 to N-1 in the file, and are by the time that the loss sees them."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CATEGORIES = {3: "car", 17: "cat", 18: "dog", 44: "bottle"}
TO_CLASS = {category: i for i, category in enumerate(sorted(CATEGORIES))}


class Objects(Dataset):
    def __init__(self, rows, target_transform=None):
        self.rows = rows
        self.target_transform = target_transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        features, category = self.rows[i]
        target = category
        if self.target_transform is not None:
            target = self.target_transform(target)
        return torch.tensor(features), target


def collate(batch):
    features, categories = zip(*batch)
    return torch.stack(features), torch.tensor([TO_CLASS[c] for c in categories])


rows = [([0.1, 0.9], 3), ([0.4, 0.4], 44), ([0.7, 0.2], 17), ([0.3, 0.1], 18)]
table = torch.full((100,), -100, dtype=torch.long)
table[torch.tensor(sorted(CATEGORIES))] = torch.arange(len(CATEGORIES))
model = nn.Linear(2, len(CATEGORIES))

for features, target in DataLoader(Objects(rows, target_transform=TO_CLASS.get), batch_size=2):
    F.cross_entropy(model(features), target).backward()
for features, target in DataLoader(Objects(rows), batch_size=2, collate_fn=collate):
    F.cross_entropy(model(features), target).backward()
for features, category in DataLoader(Objects(rows), batch_size=2):
    F.cross_entropy(model(features), table[category]).backward()
# Grades are 1 to 5 in the file.
grades = torch.tensor([1, 5, 3, 2])
F.cross_entropy(torch.randn(4, 5), grades - 1)
F.cross_entropy(torch.randn(4, 5), torch.unique(grades, return_inverse=True)[1])
