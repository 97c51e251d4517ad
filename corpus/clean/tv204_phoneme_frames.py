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
    whole = torch.full((len(rows), 5), PAD)
    lists = []
    for i, (sound, label) in enumerate(rows):
        sounds[i, : len(sound)] = sound
        labels[i, : len(label)] = label
        # Every row is cut to the same length, so no padding remains.
        whole[i] = label[:5]
        lists.append(label.tolist() + [PAD] * (longest - len(label)))
    return sounds, labels, whole, torch.tensor(lists)


torch.manual_seed(0)
net = nn.GRU(10, 24, batch_first=True)
head = nn.Linear(24, PHONEMES)
table = nn.Embedding(PHONEMES + 1, 4)
for sounds, labels, whole, lists in DataLoader(utterances(60), batch_size=8, collate_fn=collate):
    scores = head(net(sounds)[0]).log_softmax(-1)
    target = F.one_hot(labels.clamp(min=0), PHONEMES).float()
    loss = -(scores * target).sum(-1)[labels != PAD].mean()
    loss = loss + F.nll_loss(scores.transpose(1, 2), labels, ignore_index=PAD)
    loss = loss + F.nll_loss(scores.transpose(1, 2), lists, ignore_index=PAD)
    F.one_hot(whole, PHONEMES)
    # The first frames are never padding, and the table has a separate row for padding.
    F.one_hot(labels[:, 0], PHONEMES)
    F.one_hot(labels[:, :3], PHONEMES)
    loss = loss + table(labels + 1).sum() + table(lists % (PHONEMES + 1)).sum()
    valid = labels >= 0
    loss = loss - scores[valid].gather(1, labels[valid][:, None]).mean()
    filled = labels.clone()
    filled[filled == PAD] = 0
    loss = loss - scores.gather(2, filled[..., None]).mean()
    loss.backward()
