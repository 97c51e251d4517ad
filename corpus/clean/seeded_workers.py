"""Generators of a dataset that are right: seeded by the worker, made by it, or used before it."""
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Seeded(Dataset):
    def __init__(self):
        self.rng = random.Random(0)
        self.order = self.rng.sample(range(12), 12)

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return torch.tensor([self.order[i], self.rng.randint(0, 5)])


class MadeByWorker(Dataset):
    def __init__(self):
        self.rng = None

    def __len__(self):
        return 12

    def __getitem__(self, i):
        if self.rng is None:
            info = get_worker_info()
            self.rng = np.random.default_rng(info.seed if info is not None else 0)
        return torch.from_numpy(self.rng.normal(size=3))


class InOneProcess(Dataset):
    def __init__(self):
        self.generator = torch.Generator().manual_seed(3)

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return torch.rand(2, generator=self.generator)


def seed_worker(worker_id):
    get_worker_info().dataset.rng.seed(torch.initial_seed() + worker_id)


if __name__ == "__main__":
    loaders = [
        DataLoader(Seeded(), batch_size=3, num_workers=2, worker_init_fn=seed_worker),
        DataLoader(MadeByWorker(), batch_size=3, num_workers=2),
        DataLoader(InOneProcess(), batch_size=3),
    ]
    for loader in loaders:
        for batch in loader:
            print(batch.float().mean())
