"""Phonemes for each frame of speech: utterances differ in length, labels are padded."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

PHONEMES, PAD = 12, -1


def utterances(count, seed=0):
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        frames = rng.randrange(6, 20)
        rows.append((torch.randn(frames, 10), torch.randint(0, PHONEMES, (frames,))))
        if len(rows) % 50 == 0:
            print("made", len(rows))
    return rows


def collate(rows):
    longest = max(len(sound) for sound, _ in rows)
    sounds = torch.zeros(len(rows), longest, 10)
    labels = torch.full((len(rows), longest), PAD)
    for i, (sound, label) in enumerate(rows):
        sounds[i, : len(sound)] = sound
        labels[i, : len(label)] = label
    return sounds, labels


torch.manual_seed(0)
net = nn.GRU(10, 24, batch_first=True)
head = nn.Linear(24, PHONEMES)
weight = torch.rand(PHONEMES)
for sounds, labels in DataLoader(utterances(60), batch_size=8, collate_fn=collate):
    scores = head(net(sounds)[0]).log_softmax(-1)
    target = F.one_hot(labels, PHONEMES).float()  # warning: TV204
    loss = -(scores * target * weight).sum(-1)[labels != PAD].mean()
    loss.backward()
