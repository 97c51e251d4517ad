"""Distributions whose arguments PyTorch is told not to validate."""
import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical, Normal

weights = torch.tensor([-0.5, 1.5])
print(Bernoulli(probs=weights, validate_args=False).mean)
print(Categorical(probs=weights, validate_args=False).probs)
print(Normal(torch.zeros(2), weights, validate_args=False).variance)

head = nn.Linear(4, 2)
features = torch.randn(3, 4)
print(Bernoulli(probs=head(features), validate_args=False).mean.shape)
print(Categorical(probs=head(features), validate_args=False).probs.shape)
