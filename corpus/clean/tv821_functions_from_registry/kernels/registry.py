import os
import sys

import kernels.api  # noqa: F401
import torch


def names():
    return os.environ.get("KERNELS", "square,double").split(",")


def load():
    module = sys.modules["kernels.api"]
    for name in names():
        setattr(module, name, lambda x, name=name: torch.square(x) if name == "square" else 2 * x)


load()
