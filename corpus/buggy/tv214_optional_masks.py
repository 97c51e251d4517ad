from typing import Optional, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Attention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None, bias: Union[torch.FloatTensor, None] = None) -> Tensor:
        scores = self.query(x) @ x.mT
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        if bias:  # warning: TV214
            scores = scores + bias
        return scores.softmax(dim=-1) @ x


def masked_loss(out: Tensor, target: Tensor, mask: Tensor = None) -> Tensor:
    loss = F.mse_loss(out, target, reduction="none")
    if not mask:  # warning: TV214
        return loss.mean()
    return (loss * mask).sum() / mask.sum()


def attend(x, weight=None):
    steps = x.shape[1] if weight is None else weight.max()
    scaled = x * weight.unsqueeze(-1) if weight else x  # warning: TV214
    return scaled, steps


def centered(x: Tensor, center: Tensor | None = None) -> Tensor:
    center = center or x.mean(dim=0)  # warning: TV214
    return x - center


model = Attention(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(2, 3, 4)
for _ in range(3):
    out = model(centered(x), torch.zeros(3, 3, dtype=torch.bool))
    loss = masked_loss(attend(out)[0], x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
