"""Will a parcel be late? An LSTM reads the depots that it has passed, and the hours spent in each."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

DEPOTS = 20


class Routes(Dataset):
    def __init__(self, count, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.routes = []
        for _ in range(count):
            stops = int(torch.randint(2, 12, (), generator=generator))
            depots = torch.randint(1, DEPOTS, (stops,), generator=generator)
            hours = torch.rand(stops, generator=generator) * 24
            self.routes.append((depots, hours, float(hours.sum() > 80)))

    def __len__(self):
        return len(self.routes)

    def __getitem__(self, index):
        return self.routes[index]


def collate(batch):
    depots, hours, late = zip(*batch)
    lengths = torch.tensor([len(route) for route in depots])
    return pad_sequence(depots, batch_first=True), pad_sequence(hours, batch_first=True), lengths, torch.tensor(late)


class LateParcel(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.depot = nn.Embedding(DEPOTS, 15, padding_idx=0)
        self.lstm = nn.LSTM(16, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, depots, hours, lengths):
        x = torch.cat([self.depot(depots), hours.unsqueeze(-1) / 24], dim=-1)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        return self.head(hidden[-1]).squeeze(-1)


def shape_of_two_routes(model):
    """A check with two routes of known lengths, the longer one first."""
    x = torch.randn(2, 7, 16)
    _, (hidden, _) = model.lstm(pack_padded_sequence(x, torch.tensor([7, 3]), batch_first=True))
    return hidden.shape


def evaluate(model, loader):
    model.eval()
    right, total = 0, 0
    with torch.no_grad():
        for depots, hours, lengths, late in loader:
            right += ((model(depots, hours, lengths) > 0) == late.bool()).sum().item()
            total += len(late)
    return right / total


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(Routes(200), batch_size=16, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(Routes(60, seed=1), batch_size=16, collate_fn=collate)
    model = LateParcel()
    print(shape_of_two_routes(model))
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(3):
        model.train()
        for depots, hours, lengths, late in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(depots, hours, lengths), late)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item(), evaluate(model, test_loader))


if __name__ == "__main__":
    main()
