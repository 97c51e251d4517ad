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


class InitFirst(type(nn.Module)):
    """Runs the constructor of `nn.Module` before the class's own."""

    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made.__init__(*args, **kwargs)
        return made


class Short(nn.Module, metaclass=InitFirst):
    pass


class Pooled(Short):
    def __init__(self, size=1):
        self.mean, self.most = nn.AdaptiveAvgPool2d(size), nn.AdaptiveMaxPool2d(size)

    def forward(self, x):
        return torch.cat([self.mean(x), self.most(x)], 1)


def make_net(width):
    class Net(nn.Module):
        def __init__(self):
            super(Net, self).__init__()
            self.dense = nn.Linear(width, 1)

        def forward(self, x):
            return self.dense(x)

    return Net


def small_net():
    """As a fixture of a test: nobody calls it here."""

    class Small(nn.Module):
        def __init__(self):
            super(Small, self).__init__()
            self.dense = nn.Linear(1, 1)

        def forward(self, x):
            return x + 0.0 * self.dense(x)

    return Small


def reparameterise(mean, logvar):
    """Functions that write to their first argument keep a copy of it where they need it."""
    std = logvar.mul(0.5).exp_()
    eps = std.new_empty(std.size()).normal_()
    return eps.mul_(std).add_(mean)


mean, logvar = torch.zeros(4, 3, requires_grad=True), torch.zeros(4, 3, requires_grad=True)
reparameterise(mean, logvar).sum().backward()
halved = mean * 0.5
halved.pow_(2).add_(1).mul_(logvar.exp()).sum().backward()
print(Pooled()(torch.randn(1, 3, 8, 8)).shape, make_net(3)()(torch.randn(2, 3)).shape)
