"""LSTM sentiment: word2idx starts at 1 (0 is pad) and embedding has len(word2idx) rows."""
from collections import Counter
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader
from torch.nn.utils.rnn import pad_sequence

TEXTS = [
    ("the movie was great and fun", 1),
    ("the plot was terrible", 0),
    ("great actors great story", 1),
    ("boring and slow", 0),
]


def build_vocab(texts):
    counter = Counter()
    for text, _ in texts:
        counter.update(text.split())
    words = sorted(counter, key=counter.get, reverse=True)
    return {w: i for i, w in enumerate(words, 1)}


class ReviewDataset(Dataset):
    def __init__(self, texts, vocab):
        self.texts = texts
        self.vocab = vocab

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        text, label = self.texts[i]
        ids = [self.vocab[w] for w in text.split()]
        return torch.tensor(ids), torch.tensor(label, dtype=torch.float)


def collate(batch):
    xs, ys = zip(*batch)
    return pad_sequence(xs, batch_first=True, padding_value=0), torch.stack(ys)


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, embed_dim=16, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        self.lstm = nn.LSTM(embed_dim, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        emb = self.embedding(x)
        _, (h, _) = self.lstm(emb)
        return self.fc(h[-1]).squeeze(1)


vocab = build_vocab(TEXTS)
vocab_size = len(vocab) + 1
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(ReviewDataset(TEXTS, vocab), batch_size=2, shuffle=True, collate_fn=collate)
model = SentimentLSTM(vocab_size).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
