"""An LSTM that expects the time first, with batches that have it second."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        out, _ = self.rnn(x.permute(1, 0, 2))
        T, B, D = out.shape
        return self.head(out.permute(1, 0, 2).reshape(B, T, D))


def flat(x):
    B, T, D = x.shape
    y = x.reshape(T * B, D)
    # Here the names have other values.
    T, B = B, T
    return x.view(T, B, D), y


def first_hidden(hidden):
    # The layer is the only one: an axis has one element.
    return hidden.view(hidden.size(1), hidden.size(0), -1)


def shifted(scores):
    # Attention with relative positions shifts its rows in this way.
    padded = F.pad(scores, (1, 0))
    padded = padded.view(padded.size(0), padded.size(1), padded.size(3), padded.size(2))
    return padded[:, :, 1:].reshape(scores.size(0), scores.size(1), scores.size(2), scores.size(3))


def column(x):
    return x.view(x.size(1), x.size(0))


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(5, 7, 4), torch.randint(0, 3, (5, 7))
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
    optimizer.step()
print(flat(x)[0].shape, first_hidden(torch.zeros(1, 5, 8)).shape, column(torch.zeros(1, 3)).shape)
print(shifted(torch.zeros(1, 1, 3, 3)).shape)
