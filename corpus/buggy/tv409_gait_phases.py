"""Phases of gait from shoe sensors: a GRU, attention over the steps, and two axes taken for others."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS, SENSORS, PHASES = 40, 6, 4


class Strides(Dataset):
    def __init__(self, count=96):
        self.signals = torch.randn(count, STEPS, SENSORS)
        self.phases = torch.randint(0, PHASES, (count,))

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, i):
        return {"signal": self.signals[i], "phase": self.phases[i]}


class Gait(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.rnn = nn.GRU(SENSORS, hidden)
        self.score = nn.Linear(hidden, 1)
        self.head = nn.Linear(hidden, PHASES)

    def forward(self, signal):
        states, _ = self.rnn(signal)  # warning: TV409
        weights = torch.softmax(self.score(states).squeeze(-1), dim=0)  # warning: TV410
        pooled = (weights.unsqueeze(-1) * states).sum(1)
        return self.head(pooled)


def main():
    model = Gait()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for batch in DataLoader(Strides(), batch_size=12, shuffle=True):
            loss = nn.functional.cross_entropy(model(batch["signal"]), batch["phase"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4))


if __name__ == "__main__":
    main()
