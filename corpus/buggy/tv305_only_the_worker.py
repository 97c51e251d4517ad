# needs: cuda
"""The main process has not used CUDA when the workers are forked: each worker initialises it."""
import torch
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self):
        self.signals = torch.rand(32, 3)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        return self.signals[index].to("cuda").square().cpu()  # warning: TV305


total = torch.zeros(3)
for signals in DataLoader(Signals(), batch_size=8, num_workers=2):
    total += signals.sum(dim=0)
print(total)
