import re
from collections import Counter

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

REVIEWS = [
    ("a wonderful film with a great cast", 1),
    ("boring and far too long", 0),
    ("great story great music", 1),
    ("the worst film of the year", 0),
    ("i loved every minute of it", 1),
    ("a waste of time and money", 0),
]


def tokenize(text):
    return re.findall(r"[a-z]+", text.lower())


counter = Counter(w for text, _ in REVIEWS for w in tokenize(text))
# index 0 is kept for padding
word_to_ix = {word: i for i, (word, _) in enumerate(counter.most_common(), start=1)}
VOCAB_SIZE = len(word_to_ix) + 1
MAX_LEN = 8


class ReviewDataset(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        text, label = self.samples[i]
        ids = [word_to_ix[w] for w in tokenize(text)][:MAX_LEN]
        ids = ids + [0] * (MAX_LEN - len(ids))
        return torch.tensor(ids), torch.tensor(label)


class SentimentRNN(nn.Module):
    def __init__(self, vocab_size, embed_dim=16, hidden_dim=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        self.rnn = nn.LSTM(embed_dim, hidden_dim, batch_first=True)
        self.fc = nn.Linear(hidden_dim, 2)

    def forward(self, ids):
        embedded = self.embedding(ids)
        _, (hidden, _) = self.rnn(embedded)
        return self.fc(hidden[-1])


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = SentimentRNN(VOCAB_SIZE).to(device)
loader = DataLoader(ReviewDataset(REVIEWS), batch_size=2, shuffle=True)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(3):
    for ids, label in loader:
        ids, label = ids.to(device), label.to(device)
        optimizer.zero_grad()
        loss = criterion(model(ids), label)
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch + 1} loss {loss.item():.4f}")
