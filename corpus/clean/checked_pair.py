"""A loss that checks its arguments against each other before it uses them."""

import torch
from torch import nn


class RedundancyLoss(nn.Module):
    def __init__(self, weight=5e-3):
        super().__init__()
        self.weight = weight

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if len(target.shape) > 2 or len(input.shape) > 2:
            raise ValueError(f"two dimensions at most, not {target.shape} and {input.shape}")
        # Neither rank is known, and equal shapes do not determine it.
        if target.shape != input.shape:
            raise ValueError(f"{target.shape} differs from {input.shape}")
        if target.size(0) <= 1:
            raise ValueError("more than one sample is needed")
        first = (input - input.mean(0)) / input.std(0).add(1e-6)
        second = (target - target.mean(0)) / target.std(0).add(1e-6)
        correlation = torch.mm(first.t(), second) / input.shape[0]
        off = correlation - torch.diag(correlation.diagonal())
        return (correlation.diagonal() - 1).pow(2).sum() + self.weight * off.pow(2).sum()


if __name__ == "__main__":
    print(RedundancyLoss()(torch.randn(8, 4), torch.randn(8, 4)))
