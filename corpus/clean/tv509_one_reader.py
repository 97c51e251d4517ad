import torch
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        for i in range(40):
            yield torch.tensor(i)


class Noise(IterableDataset):
    """Every worker draws its own samples."""

    def __iter__(self):
        for _ in range(40):
            yield torch.randn(3)


# One worker, or none, reads every sample once.
print(sum(len(batch) for batch in DataLoader(Numbers(), batch_size=8)))
print(sum(len(batch) for batch in DataLoader(Numbers(), batch_size=8, num_workers=1)))
print(sum(len(batch) for batch in DataLoader(Noise(), batch_size=8, num_workers=2)))
