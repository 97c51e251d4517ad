"""Conditions that belong together: which branch is taken depends on the caller's array."""

import sys

import torch


def mean_of_channels(signal, counts, fixed):
    batch = signal.size(0)
    if fixed(counts):
        return signal.mean(1)
    return torch.stack([signal[b, : counts[b]].mean(0) for b in range(batch)])


def sample(kind, mixed=False):
    graph = {"person": {"x": torch.rand(3, 2)}} if mixed else torch.rand(3, 2)
    if kind == "remote" and mixed:
        return len(graph["person"]["x"])
    if not (mixed or kind == "remote"):
        return graph.flip(0)
    return graph


def none_given(counts):
    return len(sys.argv) > 99 or int(counts.max()) == 0


x = torch.rand(2, 4, 100)
print(mean_of_channels(x, torch.tensor([3, 2]), none_given).shape)
print(mean_of_channels(x, torch.zeros(1).long(), none_given).shape)
print(sample(sys.argv[0]))
