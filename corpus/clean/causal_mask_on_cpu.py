# needs: cuda
"""A causal mask on the CPU: `nn.TransformerEncoder` recognises it, and then does not use it."""
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocabulary, width=64):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 9)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1))
        hidden = self.encoder(self.embedding(tokens), mask=mask)
        return self.head(hidden)


model = Tagger(1000).cuda()
tokens = torch.randint(0, 1000, (8, 20)).cuda()
print(model(tokens).shape)
