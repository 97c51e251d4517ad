"""Text to speech: each phoneme is repeated for as many frames as it lasts."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

UTTERANCES = [([3, 8, 1, 5], [2, 4, -1, 3]), ([7, 2, 2, 9], [1, 1, 2, 5])]


class Speech(Dataset):
    def __len__(self):
        return len(UTTERANCES)

    def __getitem__(self, i):
        phonemes, durations = UTTERANCES[i]
        return torch.tensor(phonemes), torch.tensor(durations)


class LengthRegulator(nn.Module):
    def forward(self, encoded, durations):
        rows = [torch.repeat_interleave(row, times, dim=0) for row, times in zip(encoded, durations)]  # warning: TV208
        return nn.utils.rnn.pad_sequence(rows, batch_first=True)


class Synthesiser(nn.Module):
    def __init__(self, phonemes=12, dim=16, mels=8):
        super().__init__()
        self.embed = nn.Embedding(phonemes, dim)
        self.regulate = LengthRegulator()
        self.decode = nn.Linear(dim, mels)

    def forward(self, phonemes, durations):
        return self.decode(self.regulate(self.embed(phonemes), durations))


model = Synthesiser()
for phonemes, durations in DataLoader(Speech(), batch_size=2):
    mel = model(phonemes, durations)
    mel.pow(2).mean().backward()
