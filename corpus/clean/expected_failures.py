"""What is meant to fail: tests that say so, and demonstrations inside `try`."""

import contextlib
import unittest

import torch
import torch.nn as nn


class Shapes(unittest.TestCase):
    def test_index(self):
        with self.assertRaises(IndexError):
            torch.ones(3)[5]

    def test_sizes(self):
        layer = nn.Linear(4, 2)
        with self.assertRaisesRegex(RuntimeError, "cannot be multiplied"):
            layer(torch.ones(1, 5))

    @unittest.expectedFailure
    def test_reshape(self):
        self.assertEqual(torch.ones(6).reshape(4, 2).shape, (4, 2))


weights = torch.ones(3, requires_grad=True)
with torch.no_grad():
    total = weights @ torch.arange(3.0)

try:
    total.backward()
except RuntimeError as error:
    print("no graph:", error)

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
for size in ((1, 3, 8, 8), (1, 1, 8, 8)):
    try:
        print(model(torch.zeros(size)).shape)
    except (RuntimeError, ValueError):
        print("wrong number of channels")

with contextlib.suppress(IndexError):
    torch.zeros(2)[7]

unittest.main(argv=["shapes"], exit=False)
