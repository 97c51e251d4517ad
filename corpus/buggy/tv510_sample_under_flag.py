import torch
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self, count, with_index=False):
        self.signals = torch.randn(count, 4)
        self.labels = torch.randint(3, (count,))
        self.with_index = with_index

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        signal, label = self.signals[index], self.labels[index]
        if self.with_index:  # warning: TV510
            return signal, label, index


for signal, label, index in DataLoader(Recordings(16, with_index=True), batch_size=4):
    print(signal.shape, label, index)
