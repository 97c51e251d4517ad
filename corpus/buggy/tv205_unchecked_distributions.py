"""Distributions whose arguments PyTorch is told to validate, as it does by default."""
import torch
from torch.distributions import Bernoulli, Categorical, Normal

weights = torch.tensor([-0.5, 1.5])
for make in (
    lambda: Bernoulli(probs=weights, validate_args=True),  # error: TV205
    lambda: Categorical(probs=weights, validate_args=True),  # error: TV205
    lambda: Normal(torch.zeros(2), weights, validate_args=True),  # error: TV205
):
    make()
