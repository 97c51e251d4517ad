"""An evaluation in which the targets may be missing."""
import torch
import torch.nn as nn

torch.manual_seed(0)


def errors(out, target):
    error = out - target
    return error.square().mean(), error.abs().max()


class Evaluation:
    def __init__(self, model):
        self.model = model

    def bounds(self, out):
        return out.min(), out.max()

    def range_of(self, out, wanted):
        return self.bounds(out) if wanted else (None, None)

    def run(self, x, target=None):
        out = self.model(x)
        mean, largest = errors(out, target) if target is not None else (None, None)
        return out, mean, largest


def largest_class(out, wanted):
    value, index = torch.max(out, dim=1) if wanted else (None, None)
    return value, index


# Only the first value is conditional: the second one is set later.
def train(model, batches, scheduled):
    optimizer, best = torch.optim.SGD(model.parameters(), lr=0.1) if scheduled else None, None
    for x in batches:
        loss = model(x).square().mean()
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if best is None or loss.item() < best:
            best = loss.item()
    return best


# The conditional expression is in parentheses, and `bounds` is kept as a pair.
def kept(evaluation, out, wanted):
    pair, note = (evaluation.bounds(out) if wanted else None), None
    return pair, note


# The function returns one tensor.
def masked(x, wanted):
    mask, weight = torch.ones_like(x) if wanted else None, None
    return x if mask is None else x * mask, weight


evaluation = Evaluation(nn.Linear(4, 1))
out, mean, largest = evaluation.run(torch.rand(8, 4), torch.rand(8, 1))
print(mean, largest, evaluation.range_of(out, True), largest_class(out, True), kept(evaluation, out, True))
print(train(evaluation.model, torch.rand(3, 8, 4), True), masked(out, True)[0].shape)
