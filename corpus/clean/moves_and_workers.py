# needs: cuda
"""Statements that move modules, and loaders whose workers may use CUDA or do not."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# Wakes the GPU up.
torch.zeros(1).cuda()


class OnGpu(Dataset):
    def __init__(self, n=8):
        self.x = torch.randn(n, 4)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i].to(device)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.scale = torch.ones(4)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc((x - self.mean) / self.scale.to(x.device))


def main():
    model = Scaled()
    model.to(device)
    model.float()
    batch = torch.randn(8, 4, device=device)
    batch.to(device)
    for x in DataLoader(OnGpu(), batch_size=4):
        print(model(x).shape)
    for x in DataLoader(OnGpu(), batch_size=4, num_workers=2, multiprocessing_context="spawn"):
        print(model(x).shape)
    for (x,) in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4, num_workers=2, pin_memory=True):
        print(model(x.to(device, non_blocking=True)).shape)


if __name__ == "__main__":
    main()
