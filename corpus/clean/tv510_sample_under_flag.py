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
        if self.with_index:
            return signal, label, index
        return signal, label


class Split(Recordings):
    """One of two conditions always holds."""

    def __init__(self, count, train):
        super().__init__(count)
        self.train = train

    def __getitem__(self, index):
        if self.train:
            return self.signals[index], self.labels[index]
        if not self.train:
            return self.signals[index]


class Always(Recordings):
    """The flag is never false."""

    def __init__(self, count, labelled=True):
        super().__init__(count)
        self.labelled = True
        self.shuffled = labelled

    def __getitem__(self, index):
        if self.labelled:
            return self.signals[index], self.labels[index]


class Known(Recordings):
    """A comparison may always hold."""

    def __init__(self, count, split="train"):
        super().__init__(count)
        self.split = split

    def __getitem__(self, index):
        if self.split == "train":
            return self.signals[index]


for data in [Recordings(8), Split(8, True), Split(8, False), Always(8), Known(8)]:
    for batch in DataLoader(data, batch_size=4):
        print(len(batch))
