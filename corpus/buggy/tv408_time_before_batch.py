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
        x = x.view(x.size(1), x.size(0), x.size(2))  # warning: TV408
        out, _ = self.rnn(x)
        T, B, D = out.shape
        return self.head(out.reshape(B, T, D))  # warning: TV408


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(5, 7, 4), torch.randint(0, 3, (5, 7))
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
    optimizer.step()
