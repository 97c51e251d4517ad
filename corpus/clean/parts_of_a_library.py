"""What other programs build on: nothing here is called by the file itself."""

from abc import ABC, abstractmethod
from typing import List, Tuple

import torch
import torch.nn as nn
from torch import Tensor


class Gate(nn.Module, ABC):
    """Subclasses say how gates are drawn."""

    def __init__(self, reg_weight: int = 0.5):
        super().__init__()
        self.reg_weight = reg_weight
        self.prior = None

    @abstractmethod
    def draw(self, count: int) -> Tensor:
        pass

    def penalty(self) -> Tensor:
        """To be overridden."""

    def forward(self, x: Tensor, rows=None):
        if x.ndim == 3:
            x = torch.cat([rows, x])
        gates = torch.clamp(self.draw(x.shape[0]), min=0, max=1)
        return x * gates, torch.round(self.penalty()) + self.prior_term()

    def prior_term(self):
        term = torch.zeros(4)
        term[:2] = self.prior
        return term

    @classmethod
    def like(cls, other):
        gate = cls(other.reg_weight)
        gate.load_state_dict(other.state_dict())
        return gate

    def weight(self):
        return torch.tensor(self.reg_weight, requires_grad=True)


class Noisy:
    """A property with a setter: what is read is not what was set."""

    def __init__(self, level):
        self._level = torch.full((1,), float(level))

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self._level = torch.full_like(self._level, float(value))


def halve(noise):
    holder = Noisy(noise)
    holder.level = 12
    return torch.all(holder.level == 12)


def resume(features: Tensor, state: Tensor = None):
    """The annotation of `state` is wrong: callers give a dict, or nothing."""
    if state is None:
        before, steps = None, 0
    else:
        before, steps = state["before"], state["steps"]
    return features if before is None else features + before, steps


def grid_loss(pred: Tensor, target: Tensor):
    """`pred` is annotated carelessly, too."""
    return (pred["fused"] - target).abs().mean() + (pred["plain"] - target).abs().mean()


def largest(images: List[Tensor]) -> Tuple[int, ...]:
    """While a model is traced, sizes are tensors."""
    sizes = []
    if torch.jit.is_tracing():
        for i in range(images[0].dim()):
            sizes.append(torch.stack([image.shape[i] for image in images]).max())
    else:
        for i in range(images[0].dim()):
            sizes.append(max(image.shape[i] for image in images))
    return tuple(sizes)


def register(name, function, several=False):
    if several:

        def described(*args):
            return [list(part) for part in function(*args)]

    else:

        def described(*args):
            return function(*args)

    return name, described


TOTAL = register("total", lambda x: torch.randn(4).sum())
