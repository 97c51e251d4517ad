# Variables that are set under a condition which holds wherever they are read, and arguments that are meant so.
import random
from typing import Optional

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Refine(nn.Module):
    def __init__(self, rounds):
        super().__init__()
        self.rounds = int(rounds)
        self.start = nn.Linear(4, 4)
        self.step = nn.Linear(4, 2)

    def forward(self, x):
        if self.rounds > 0:
            hidden, context = torch.split(self.start(x), [2, 2], dim=1)
        outputs = []
        for _ in range(self.rounds):
            hidden = self.step(torch.cat([hidden, context], dim=1))
            outputs.append(hidden)
        return outputs


def sample(documents, length):
    pieces = []
    total = 0
    while total < 1:
        text = documents[random.randint(0, len(documents) - 1)].split()
        pieces.append(text[:length])
        total += len(text)
    if pieces:
        first = pieces[0]
    return first


def options(**kwargs):
    if kwargs is not None:
        width = kwargs.pop("width", 4)
        depth = kwargs.pop("depth", 2)
    else:
        width = 4
    return nn.ModuleList(nn.Linear(width, width) for _ in range(depth))


def optimizer_of(model, config):
    settings = config.get("optimizer", None)
    if settings is not None:
        extra = dict(settings.items())
    optimizer = torch.optim.SGD(model.parameters(), lr=settings.get("lr"))
    return optimizer, extra


class Synonyms:
    def __init__(self):
        self.terms = {}

    def insert(self, word, term):
        self.terms[word] = term


def synonyms(table):
    known = Synonyms()
    for word, others in table.items():
        known.insert(word, word)
        for term in others:
            known.insert(term, word)
    return known.terms


def loader(size: int, dataset: Optional[TensorDataset] = None):
    if dataset is None:
        dataset = TensorDataset(torch.randn(8, 4))
    return DataLoader(dataset, batch_size=size)


def named_loader(dataset="noise", size=2):
    return loader(size)


print(len(Refine("2")(torch.randn(3, 4))), sample(["a b c"], 2), options(depth=3))
print(optimizer_of(nn.Linear(2, 2), {"optimizer": {"lr": 0.1}}), synonyms({"car": ["auto"]}), len(named_loader()))
