import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

MAILS = [
    ("win money now", 1),
    ("meeting at noon", 0),
    ("cheap pills online now", 1),
    ("lunch tomorrow", 0),
    ("claim your free prize", 1),
    ("notes from the meeting", 0),
]
vocab = {"<pad>": 0}
for text, _ in MAILS:
    for token in text.split():
        vocab.setdefault(token, len(vocab))


def collate(batch):
    xs = [torch.tensor([vocab[t] for t in text.split()]) for text, _ in batch]
    ys = torch.tensor([float(label) for _, label in batch])
    return pad_sequence(xs, batch_first=True), ys


class SpamLSTM(nn.Module):
    def __init__(self, n_words, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(n_words, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        _, (h, _) = self.lstm(self.embed(x))
        return self.out(h[-1])


loader = DataLoader(MAILS, batch_size=3, shuffle=False, collate_fn=collate)
model = SpamLSTM(len(vocab))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(5):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
