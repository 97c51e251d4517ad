import torch
from torch.utils.data import Dataset

import constants as C


class TaggedSentences(Dataset):
    def __init__(self, n=32, seed=3):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for i in range(n):
            length = 5 + i % 10
            words = torch.randint(1, C.VOCAB, (length,), generator=g)
            tags = torch.randint(0, C.TAGS, (length,), generator=g)
            self.items.append((words, tags))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        words, tags = self.items[idx]
        ids = torch.full((C.MAX_LEN,), C.PAD_TOKEN, dtype=torch.long)
        labels = torch.full((C.MAX_LEN,), C.LABEL_PAD, dtype=torch.long)
        ids[: len(words)] = words
        labels[: len(tags)] = tags
        return ids, labels
