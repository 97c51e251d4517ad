"""A character model whose trainer keeps the hidden state."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class CharModel(nn.Module):
    def __init__(self, vocabulary=30, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, x, hidden):
        y, hidden = self.rnn(self.embed(x), hidden)
        return self.out(y), hidden


class Trainer:
    def __init__(self):
        self.model = CharModel()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.hidden = None

    def step(self, chunk):
        logits, self.hidden = self.model(chunk[:, :-1], self.hidden)
        loss = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()  # error: TV605
        self.optimizer.step()
        return loss.item()


trainer = Trainer()
text = torch.randint(30, (4, 101))
for start in range(0, 100, 20):
    print(start, trainer.step(text[:, start : start + 21]))
