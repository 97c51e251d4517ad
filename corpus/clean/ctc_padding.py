"""CTC with padded targets: what stands behind a target's length is never read."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

ALPHABET = "abcdefghij"
words = ["bad", "jig", "a", "face"]
ids = [torch.tensor([ALPHABET.index(c) + 1 for c in word]) for word in words]
lengths = torch.tensor([len(word) for word in words])
targets = pad_sequence(ids, batch_first=True, padding_value=-1)
head = nn.Linear(16, len(ALPHABET) + 1)
log_probs = head(torch.randn(20, len(words), 16)).log_softmax(2)
steps = torch.full((len(words),), 20, dtype=torch.long)
loss = nn.CTCLoss()(log_probs, targets, steps, lengths)
joined = nn.CTCLoss()(log_probs, torch.cat(ids), steps, lengths)
(loss + joined).backward()
