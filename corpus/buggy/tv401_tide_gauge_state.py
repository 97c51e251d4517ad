"""Water levels from a tide gauge: the state of an LSTM is made once for the size of a batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 24
BATCH = 16


def windows(hours=400):
    level = torch.sin(torch.arange(hours) * 0.5) + 0.1 * torch.randn(hours)
    return level.unfold(0, WINDOW, 1)[:-1].unsqueeze(-1), level[WINDOW:]


class Gauge(nn.Module):
    def __init__(self, hidden, batch):
        super().__init__()
        self.hidden, self.batch = hidden, batch
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def state(self):
        return tuple(torch.zeros(2, self.batch, self.hidden) for _ in range(2))

    def forward(self, x):
        steps, _ = self.lstm(x, self.state())  # error: TV401
        return self.head(steps[:, -1]).squeeze(1)


def main():
    x, y = windows()
    loader = DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True)
    model = Gauge(12, BATCH)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for window, level in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(window), level)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
