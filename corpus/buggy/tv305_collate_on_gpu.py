# needs: cuda
"""Short audio clips, padded and moved in the collate function."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Clips(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        return torch.randn(40 + i), i % 4


def collate(batch):
    clips, labels = zip(*batch)
    clips = pad_sequence(clips, batch_first=True)
    return clips.to(device), torch.tensor(labels).to(device)  # error: TV305


def main():
    model = nn.Sequential(nn.LazyLinear(16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    loader = DataLoader(Clips(), batch_size=16, num_workers=4, collate_fn=collate, persistent_workers=True)
    for clips, labels in loader:
        loss = nn.functional.cross_entropy(model(clips), labels)
        loss.backward()


if __name__ == "__main__":
    main()
