"""Causal language model on padded batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

corpus = ["the cat sat on the mat", "a dog barked", "the mat was red and the cat was grey"]
PAD, BOS, EOS = 0, 1, 2
words = sorted({w for line in corpus for w in line.split()})
stoi = {w: i + 3 for i, w in enumerate(words)}
VOCAB = len(stoi) + 3

seqs = [torch.tensor([BOS] + [stoi[w] for w in line.split()] + [EOS]) for line in corpus]
batch = pad_sequence(seqs, batch_first=True, padding_value=PAD)


class LM(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(64, d)
        layer = nn.TransformerEncoderLayer(d, 2, 48, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1)
        self.out = nn.Linear(d, VOCAB)

    def forward(self, ids):
        T = ids.size(1)
        h = self.tok(ids) + self.pos(torch.arange(T, device=ids.device))
        causal = torch.triu(torch.ones(T, T, dtype=torch.bool, device=ids.device), diagonal=1)
        return self.out(self.blocks(h, mask=causal))


device = "cuda" if torch.cuda.is_available() else "cpu"
model = LM().to(device)
batch = batch.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(5):
    logits = model(batch[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), batch[:, 1:].reshape(-1), ignore_index=PAD)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), loss.exp().item())

with torch.no_grad():
    ids = torch.tensor([[BOS]], device=device)
    for _ in range(6):
        probs = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
print(ids.tolist())
