import torch
from torch.utils.data import Dataset

TOPICS = ["world", "sports", "business", "science", "culture"]
topic2id = {name: i for i, name in enumerate(TOPICS)}


class NewsDataset(Dataset):
    """Made-up articles; every topic shows up equally often."""

    def __init__(self, cfg, size=80):
        g = torch.Generator().manual_seed(1)
        self.tokens = torch.randint(1, cfg.vocab_size, (size, cfg.max_len), generator=g)
        self.topics = [TOPICS[i % len(TOPICS)] for i in range(size)]

    def __len__(self):
        return len(self.topics)

    def __getitem__(self, i):
        return {
            "tokens": self.tokens[i],
            "label": torch.tensor(topic2id[self.topics[i]], dtype=torch.long),
        }
