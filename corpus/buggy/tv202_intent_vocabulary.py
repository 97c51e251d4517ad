"""Vocab class with specials; the embedding is made from len(counter)."""
from collections import defaultdict
import torch
import torch.nn as nn

SENTENCES = ["deliver the parcel today", "the parcel is late", "cancel my order", "where is my order"]
INTENTS = [0, 1, 2, 1]


class Vocab:
    def __init__(self):
        self.stoi = {"<pad>": 0, "<unk>": 1}
        self.itos = {0: "<pad>", 1: "<unk>"}
        self.freq = defaultdict(int)

    def add_sentence(self, sentence):
        for word in sentence.split(" "):
            self.freq[word] += 1
            if word not in self.stoi:
                idx = len(self.stoi)
                self.stoi[word] = idx
                self.itos[idx] = word

    def numericalize(self, sentence):
        return [self.stoi.get(w, self.stoi["<unk>"]) for w in sentence.split(" ")]

    def __len__(self):
        return len(self.freq)


class GRUClassifier(nn.Module):
    def __init__(self, vocab_size, num_classes, emb=8, hid=16):
        super(GRUClassifier, self).__init__()
        self.emb = nn.Embedding(vocab_size, emb)
        self.gru = nn.GRU(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, num_classes)

    def forward(self, ids):
        e = self.emb(ids)  # error: TV202
        o, h = self.gru(e)
        return self.out(h.squeeze(0))


vocab = Vocab()
for s in SENTENCES:
    vocab.add_sentence(s)

device = "cuda" if torch.cuda.is_available() else "cpu"
max_len = max(len(s.split()) for s in SENTENCES)
rows = []
for s in SENTENCES:
    ids = vocab.numericalize(s)
    ids += [0] * (max_len - len(ids))
    rows.append(ids)
X = torch.tensor(rows, dtype=torch.long).to(device)
y = torch.tensor(INTENTS).to(device)

model = GRUClassifier(len(vocab), num_classes=3).to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.CrossEntropyLoss()
for step in range(5):
    opt.zero_grad()
    loss = loss_fn(model(X), y)
    loss.backward()
    opt.step()
    print(step, loss.item())
