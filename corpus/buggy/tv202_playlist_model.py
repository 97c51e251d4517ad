"""Next-song prediction. Sessions have different lengths."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

NUM_SONGS = 100

PAD = -1

sessions = [
    torch.tensor([5, 17, 17, 40]),
    torch.tensor([99, 3]),
    torch.tensor([21, 22, 23, 24, 25, 26]),
]
next_song = torch.tensor([41, 4, 27])


class SessionModel(nn.Module):
    def __init__(self, num_songs, dim=24):
        super().__init__()
        self.songs = nn.Embedding(num_songs, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, num_songs)

    def forward(self, batch):
        vectors = self.songs(batch)  # error: TV202
        _, h = self.gru(vectors)
        return self.out(h.squeeze(0))


padded = pad_sequence(sessions, batch_first=True, padding_value=PAD)
model = SessionModel(NUM_SONGS)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
for epoch in range(3):
    logits = model(padded)
    loss = criterion(logits, next_song)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
