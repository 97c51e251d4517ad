"""Activations without a parameter `inplace` never write to their input."""

import torch
import torch.nn.functional as F

x = torch.randn(4, 24, requires_grad=True) * 1
a, b = x.chunk(2, dim=-1)
(F.softplus(a) + F.softplus(b)).sum().backward()

y = torch.randn(4, requires_grad=True) * 1
(y * torch.sigmoid(y) + F.gelu(y)).sum().backward()
