from typing import Optional, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Attention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None, causal: Union[Tensor, bool, None] = None) -> Tensor:
        scores = self.query(x) @ x.mT
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        # A bool is allowed, too.
        if causal:
            scores = scores.tril()
        return scores.softmax(dim=-1) @ x


def masked_loss(out: Tensor, target: Tensor, mask: Optional[Tensor] = None) -> Tensor:
    loss = F.mse_loss(out, target, reduction="none")
    if mask is None:
        return loss.mean()
    return (loss * mask).sum() / mask.sum()


def scaled(x: Tensor, flag: Optional[Tensor] = None, empty: Optional[Tensor] = None) -> Tensor:
    # A flag with one element.
    if flag is not None and flag:
        x = x * 2
    # Not the parameter any more.
    empty = empty is None
    return x if empty else -x


def weighted(x, weight=None, names=None, size=None):
    # Neither list nor number has a method of tensors.
    if names:
        print(len(names))
    if size:
        x = x[:size]
    if isinstance(weight, float) or not weight:
        return x
    return x * weight.unsqueeze(-1)


def once(x: Tensor, stop: Optional[Tensor] = None) -> Tensor:
    print(stop.item() if stop else None)
    return x


model = Attention(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(2, 3, 4)
for _ in range(3):
    out = model(weighted(x, 0.5, ["a"], 3), torch.zeros(3, 3, dtype=torch.bool), causal=True)
    loss = masked_loss(scaled(out, torch.tensor(True)), x, torch.ones(2, 3, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
once(x, torch.tensor(1))
