"""CUDA that only the main process uses: the workers return CPU tensors."""
import torch
from torch.utils.data import DataLoader, Dataset

device = "cuda" if torch.cuda.is_available() else "cpu"


class Signals(Dataset):
    def __init__(self):
        self.signals = torch.rand(32, 3)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        return self.signals[index]


total = torch.zeros(3, device=device)
for signals in DataLoader(Signals(), batch_size=8, num_workers=2):
    total += signals.to(device).square().sum(dim=0)
print(total)
