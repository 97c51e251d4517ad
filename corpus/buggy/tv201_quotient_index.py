"""Beam search: the index is a quotient, which is no integer. One cause, shown once, at its first use."""
import torch


def reorder(scores, hidden, cell, sequences):
    best, words = scores.view(-1).topk(3)
    rows = words / scores.size(1)
    hidden = hidden[rows]  # error: TV201
    cell = cell[rows]  # error: TV201
    sequences = sequences[rows]  # error: TV201
    return best, hidden, cell, sequences


def angle(plain):
    degrees = torch.arange(0, 360, 10)
    if plain:
        degrees = degrees[torch.rand(())]  # error: TV201
    return degrees


reorder(torch.randn(3, 50), torch.randn(3, 8), torch.randn(3, 8), torch.zeros(3, 4, dtype=torch.long))
