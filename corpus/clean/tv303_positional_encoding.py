import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Encoder(nn.Module):
    def __init__(self, vocab, d_model=32, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.pos = PositionalEncoding(d_model)
        self.layer = nn.TransformerEncoderLayer(d_model, 4, 64, batch_first=True)
        self.cls = nn.Linear(d_model, classes)

    def forward(self, ids):
        h = self.layer(self.pos(self.embed(ids)))
        return self.cls(h.mean(dim=1))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Encoder(vocab=50).to(device)
    ids = torch.randint(0, 50, (12, 15), device=device)
    y = torch.randint(0, 3, (12,), device=device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())


if __name__ == "__main__":
    main()
