"""A transform whose base class calls `_call`, which leaves the log-determinant behind."""

import torch
import torch.nn as nn
from torch.distributions import Transform, constraints


class Shear(Transform):
    domain = constraints.real_vector
    codomain = constraints.real_vector
    bijective = True

    def __init__(self, strength):
        super().__init__(cache_size=1)
        self.strength = strength
        self._log_det = None

    def _call(self, x):
        self._log_det = torch.full_like(x, self.strength).sum(-1, keepdim=True)
        return x * self.strength

    def _inverse(self, y):
        self._log_det = torch.full_like(y, -self.strength).sum(-1, keepdim=True)
        return y / self.strength


class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("drawn", None)

    def forward(self, x):
        self.register_buffer("drawn", torch.randn_like(x))
        return x + self.drawn


class Jittered(Transform):
    domain = constraints.real_vector
    codomain = constraints.real_vector
    bijective = True

    def __init__(self):
        super().__init__()
        self.noise = Noise()

    def _call(self, x):
        return self.noise(x)

    def _inverse(self, y):
        return y - self.noise.drawn


class Coupled(Transform):
    domain = constraints.real_vector
    codomain = constraints.real_vector
    bijective = True

    def __init__(self):
        super().__init__()
        self.lower = Shear(2.0)
        self.upper = Shear(3.0)

    def _call(self, x):
        a, b = x[..., :2], x[..., 2:]
        y = torch.cat([self.lower(a), self.upper(b)], dim=-1)
        self.log_det = torch.cat([self.lower._log_det, self.upper._log_det], dim=-1)
        return y

    def _inverse(self, y):
        a = self.lower._inv_call(y[..., :2])
        b = self.upper._inv_call(y[..., 2:])
        self.log_det = torch.cat([self.lower._log_det, self.upper._log_det], dim=-1)
        return torch.cat([a, b], dim=-1)


flow = Coupled()
print(flow(torch.randn(5, 4)).shape, flow.log_det.shape)

jittered = Jittered()
print(jittered(torch.randn(3, 2)).shape, torch.round(jittered.noise.drawn).shape)
