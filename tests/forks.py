"""Prepares this process for the forks that run programs on PyTorch."""

import atexit
import contextlib
import gc
import importlib


# Scripts of the corpus import these. It takes eight seconds, but makes each fork slower (0.1 instead of 0.06 s).
SLOW_IMPORTS = ("pandas", "sklearn.datasets", "sklearn.model_selection", "sklearn.preprocessing")


def import_once(*others):
    """Imports PyTorch and what programs import through it, and other modules if they are installed, so
    that no fork imports them again."""
    import torch

    torch.set_num_threads(1)
    # The first optimizer of a process imports this package (900 modules), which takes seconds.
    import torch._dynamo  # noqa: F401

    for name in ("torchvision", *others):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # A fork does not collect these objects: that would copy their memory.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)
