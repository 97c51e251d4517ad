import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

sentences = [
    (["anna", "lives", "in", "oslo"], ["B-PER", "O", "O", "B-LOC"]),
    (["the", "bank", "of", "norway", "said", "so"], ["O", "B-ORG", "I-ORG", "I-ORG", "O", "O"]),
    (["peter", "left"], ["B-PER", "O"]),
    (["berlin", "is", "big"], ["B-LOC", "O", "O"]),
]

word2idx = {"<pad>": 0, "<unk>": 1}
tag2idx = {"O": 0, "B-PER": 1, "B-LOC": 2, "B-ORG": 3, "I-ORG": 4}
for words, _ in sentences:
    for w in words:
        word2idx.setdefault(w, len(word2idx))


def encode(sample):
    words, tags = sample
    ids = torch.tensor([word2idx.get(w, 1) for w in words])
    labels = torch.tensor([tag2idx[t] for t in tags])
    return ids, labels


def collate_fn(batch):
    pairs = [encode(s) for s in batch]
    ids = pad_sequence([p[0] for p in pairs], batch_first=True, padding_value=0)
    labels = pad_sequence([p[1] for p in pairs], batch_first=True, padding_value=-1)
    return ids, labels


class BiLSTMTagger(nn.Module):
    def __init__(self, vocab_size, tagset_size, emb=32, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden // 2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(hidden, tagset_size)

    def forward(self, ids):
        h, _ = self.lstm(self.emb(ids))
        return self.out(h)


loader = DataLoader(sentences, batch_size=4, shuffle=True, collate_fn=collate_fn)
model = BiLSTMTagger(len(word2idx), len(tag2idx))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(10):
    for ids, labels in loader:
        logits = model(ids)
        loss = criterion(logits.view(-1, len(tag2idx)), labels.view(-1))  # error: TV106
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"{epoch:3d} {loss.item():.3f}")
