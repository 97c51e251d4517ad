"""Who wrote this word? Recurrent networks read the strokes of a pen: dx, dy and pressure at each time."""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

WRITERS = 4
STEPS = 30


def strokes_of(writer, generator):
    """A wave whose slant shows at the beginning of the word, followed by a tired hand."""
    time = torch.arange(STEPS) / STEPS
    noise = 0.1 * torch.randn(3, STEPS, generator=generator)
    dx = torch.cos(2 * math.pi * 3 * time) + writer * 0.5 * (time < 0.3)
    dy = torch.sin(2 * math.pi * 3 * time)
    pressure = 1 - time
    return (torch.stack([dx, dy, pressure]) + noise).T


def make_words(count, seed):
    generator = torch.Generator().manual_seed(seed)
    writers = torch.randint(0, WRITERS, (count,), generator=generator)
    return TensorDataset(torch.stack([strokes_of(int(writer), generator) for writer in writers]), writers)


class WriterLSTM(nn.Module):
    def __init__(self, hidden_size=24, num_layers=1):
        super().__init__()
        self.lstm = nn.LSTM(3, hidden_size, num_layers, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(hidden_size * 2, WRITERS)

    def forward(self, x):
        out, (h_n, c_n) = self.lstm(x)
        return self.fc(self.dropout(torch.cat([h_n[-2], h_n[-1]], dim=1)))


class WriterGRU(nn.Module):
    """The same with a GRU, which reads time first: each direction at its own end."""

    def __init__(self, hidden_size=24):
        super().__init__()
        self.hidden_size = hidden_size
        self.embed = nn.Linear(3, 16)
        self.gru = nn.GRU(input_size=16, hidden_size=hidden_size, bidirectional=True)
        self.norm = nn.LayerNorm(2 * hidden_size)
        self.fc = nn.Linear(2 * hidden_size, WRITERS)

    def forward(self, x):
        x = torch.tanh(self.embed(x)).transpose(0, 1)
        states = self.gru(x)[0]
        ends = [states[-1, :, : self.hidden_size], states[0, :, self.hidden_size :]]
        return self.fc(self.norm(torch.cat(ends, dim=1)))


class FirstAndLast(nn.Module):
    """All features of the first and the last step."""

    def __init__(self, hidden_size=24):
        super().__init__()
        self.gru = nn.GRU(3, hidden_size, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(4 * hidden_size, WRITERS)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.fc(torch.cat([out[:, 0], out[:, -1]], dim=1))


class EndOfEachDirection(nn.Module):
    """The last step of the forward direction only; the other half is in the hidden state."""

    def __init__(self, hidden_size=24):
        super().__init__()
        self.hidden_size = hidden_size
        self.gru = nn.GRU(3, hidden_size, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden_size, WRITERS)

    def forward(self, x):
        out, h_n = self.gru(x)
        return self.fc(torch.cat([out[:, -1, : self.hidden_size], h_n[-1]], dim=1))


class Pooled(nn.Module):
    """The maximum over the steps; the second LSTM, whose last step is read, has one direction."""

    def __init__(self, hidden_size=24):
        super().__init__()
        self.both = nn.LSTM(3, hidden_size, batch_first=True, bidirectional=True)
        self.one = nn.LSTM(2 * hidden_size, hidden_size, batch_first=True)
        self.fc = nn.Linear(3 * hidden_size, WRITERS)

    def forward(self, x):
        out, _ = self.both(x)
        largest = out.amax(dim=1)
        out, _ = self.one(out)
        return self.fc(torch.cat([largest, out[:, -1]], dim=1))


class OneWay(nn.Module):
    """One direction, and a batch of words whose last one is returned for a plot."""

    def __init__(self, hidden_size=24, bidirectional=False):
        super().__init__()
        self.rnn = nn.RNN(3, hidden_size, batch_first=True, bidirectional=bidirectional)
        self.smooth = nn.GRU(hidden_size, hidden_size // 2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(hidden_size, WRITERS)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1, :])

    def curve_of_last_word(self, x):
        out, _ = self.smooth(self.rnn(x)[0])
        return out[-1]


def train(model, loader, epochs=4):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for words, writers in loader:
            optimizer.zero_grad()
            loss = criterion(model(words), writers)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(words)
        print(f"{type(model).__name__} {epoch}: {total / len(loader.dataset):.3f}")


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(words).argmax(dim=1) == writers).sum().item() for words, writers in loader)
    return right / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(make_words(256, seed=0), batch_size=32, shuffle=True)
    test_loader = DataLoader(make_words(96, seed=1), batch_size=32)
    for model in (WriterLSTM(), WriterGRU(), FirstAndLast(), EndOfEachDirection(), Pooled(), OneWay()):
        train(model, train_loader)
        print(f"accuracy {accuracy(model, test_loader):.3f}")
    print(model.curve_of_last_word(next(iter(test_loader))[0]).shape)
