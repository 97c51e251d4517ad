import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

DEBUG = False


def mixed_loss(model, signals, kinds, mixup_alpha=None):
    if mixup_alpha is not None:
        lam = torch.distributions.Beta(mixup_alpha, mixup_alpha).sample()
        order = torch.randperm(len(signals))
        signals = lam * signals + (1 - lam) * signals[order]
    scores = model(signals)
    if mixup_alpha is None:
        return F.cross_entropy(scores, kinds)
    return lam * F.cross_entropy(scores, kinds) + (1 - lam) * F.cross_entropy(scores, kinds[order])


class Head(nn.Module):
    def __init__(self, norm, count_unique):
        super().__init__()
        if count_unique:
            assert norm
        self.norm = norm
        self.count_unique = count_unique

    def forward(self, x, mask=None):
        if self.norm:
            scale = x.norm(dim=-1, keepdim=True)
        if mask is None:
            mask = torch.ones_like(x)
        results = [x * mask]
        if self.count_unique:
            results.append(scale)
        return results


def packed(scores, offsets, use_gpu, output="packed"):
    if use_gpu:
        scores = scores[offsets]
        found = scores * 2
        if use_gpu:
            found = found.contiguous()
        if output == "padded":
            return found
        found = found[found > 0]
    else:
        found = scores
    return found


def first_value(values, name):
    if name == "first":
        found = values[0]
    elif name == "last":
        found = values[-1]
    else:
        raise ValueError(name)
    if not name:
        return None
    return found


def run(steps, verbose):
    if not verbose:
        return None
    if verbose:
        log = []
    for step in range(steps):
        if step == 0:
            start = step
        log.append(step - start)
    if DEBUG:
        extra = log[-1]
    print(log, verbose and log)
    return log


def clipped(rows, limit=None):
    if limit is not None:
        is_low = rows < limit
        count = is_low.sum()
    else:
        count = torch.zeros(())
    mean = count / len(rows)
    if mean.item() == 0:
        return rows
    return rows[~is_low]


def filtered(rows, width=None, is_wide=False):
    if width is None and not is_wide:
        raise ValueError("the width is needed")
    if width is not None or is_wide:
        kernel = torch.ones(width or 9)
    else:
        print("no filter")
    return rows * kernel.sum()


def plain(rows, width=None):
    if width is None:
        return rows
    if width is not None:
        kernel = torch.ones(width)
    else:
        print("no filter")
    return rows * kernel.sum()


def timed(rows, opt):
    opt.is_remote = False
    if opt.is_remote:
        print("remote")
    else:
        start = len(rows)
    return start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-train", action="store_true")
    parser.add_argument("--mixup", type=float, default=0.4)
    opt = parser.parse_args()
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 5))
    loader = DataLoader(TensorDataset(torch.rand(80, 32), torch.randint(5, (80,))), batch_size=8)
    if not opt.no_train:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        if not opt.no_train:
            for signals, kinds in loader:
                optimizer.zero_grad()
                mixed_loss(model, signals, kinds, opt.mixup).backward()
                optimizer.step()
    print(Head(True, True)(torch.ones(2, 3)), first_value([1, 2], "last"), run(3, True))
    print(clipped(torch.rand(4)), clipped(torch.rand(4), 0.9))
    print(packed(torch.rand(4), torch.tensor([0, 2]), True))


main()
