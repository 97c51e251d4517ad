import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, d=64, z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, z))
        self.dec = nn.Sequential(nn.Linear(z, 32), nn.ReLU(), nn.Linear(32, d))

    def forward(self, x):
        return self.dec(self.enc(x))


def train_one_epoch(model, loader, optimizer):
    for (x,) in loader:
        recon = model(x)
        loss = nn.MSELoss()(recon, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    loader = DataLoader(TensorDataset(torch.rand(100, 64)), batch_size=25)
    model = AutoEncoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        print(epoch, train_one_epoch(model, loader, optimizer))


if __name__ == "__main__":
    main()
