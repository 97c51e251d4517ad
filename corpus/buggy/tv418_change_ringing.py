"""A transformer learns which method a band of bell ringers plays, from the order of the bells."""
import math
import random

import torch
from torch import nn
import torch.nn.functional as F

BELLS = 6
METHODS = ("plain hunt", "backwards", "call changes")


def next_row(row, turn):
    """Neighbours change places: from the first bell, or from the second one."""
    row = list(row)
    for i in range(turn % 2, BELLS - 1, 2):
        row[i], row[i + 1] = row[i + 1], row[i]
    return row


def ring(method, rows=4):
    row, played = list(range(BELLS)), []
    for turn in range(rows):
        played += row
        if method == 2:
            i = random.randrange(BELLS - 1)
            row[i], row[i + 1] = row[i + 1], row[i]
        else:
            row = next_row(row, turn)
    return played[::-1] if method == 1 else played


def make_batch(size):
    methods = torch.randint(0, len(METHODS), (size,))
    return torch.tensor([ring(method) for method in methods.tolist()]), methods


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=200):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[:, x.size(1)]  # warning: TV418
        return self.dropout(x)


class LearnedPositions(nn.Module):
    def __init__(self, d_model, max_len=200):
        super().__init__()
        self.pos_embedding = nn.Parameter(0.02 * torch.randn(1, max_len, d_model))

    def forward(self, x):
        x += self.pos_embedding[:, x.shape[1], :]  # warning: TV418
        return x


class MethodNet(nn.Module):
    def __init__(self, positions, d_model=32):
        super().__init__()
        self.bell = nn.Embedding(BELLS, d_model)
        self.positions = positions
        layer = nn.TransformerEncoderLayer(d_model, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(d_model, len(METHODS))

    def forward(self, bells):
        x = self.positions(self.bell(bells) * math.sqrt(32))
        return self.head(self.encoder(x).mean(dim=1))


def run(name, positions, steps=40):
    model = MethodNet(positions)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model.train()
    for step in range(steps):
        bells, methods = make_batch(32)
        loss = F.cross_entropy(model(bells), methods)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        bells, methods = make_batch(200)
        accuracy = (model(bells).argmax(dim=1) == methods).float().mean().item()
    print(f"{name}: loss {loss.item():.3f}, accuracy {accuracy:.3f}")


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    run("sine", PositionalEncoding(32))
    run("learned", LearnedPositions(32))
