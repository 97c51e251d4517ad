import torch
from torch.utils.data import Dataset

from settings import FRAMES, MOODS, N_MELS


class MoodClips(Dataset):
    def __init__(self, count=32):
        super().__init__()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        spectrogram = torch.randn(1, N_MELS, FRAMES)
        mood = index % len(MOODS)
        return spectrogram, torch.tensor(mood)
