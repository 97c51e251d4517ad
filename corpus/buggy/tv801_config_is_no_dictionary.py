from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    vocabulary: int = 100
    width: int = 16


class Reader(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.head = nn.Linear(config.width, config.vocabulary)

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


config = Config()
model = Reader(config)
tokens = torch.randint(0, 100, (2, 7))
logits = model(tokens)
flat = logits.view(-1, config["vocabulary"])  # error: TV801
print(flat.shape)
