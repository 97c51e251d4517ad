"""Names that are bound in less common ways."""
from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    Batches = Iterable[Batch]

try:
    text = unicode
except NameError:
    text = str

counter = 0


def count(steps: Batches) -> Total:
    global counter, last
    for step in steps:
        if step > 1:
            counter += previous
        previous = step
    last = counter


def show():
    def inner():
        return torch.zeros(late)

    late = 2
    return inner(), last, [width for row in [[1, 2]] for width in row if (twice := 2 * width)], twice


def attempt(number):
    try:
        root = number**0.5
    except TypeError as error:
        print(error)
    else:
        print(root)
    finally:
        print(root)
    with torch.no_grad():
        result = torch.tensor(root)
    while True:
        end = result
        break
    match number:
        case [first, *rest]:
            print(first, rest)
        case int() as whole:
            print(whole)
    del result
    return end


class Shapes:
    sizes = [1, 2]
    total = sum(sizes)
    kinds = tuple(type(size) for size in sizes)

    def of(self):
        return __class__, self.total


count([1, 2, 3])
print(show(), attempt(4), Shapes().of()[1], text(3))
