"""Prepares this process for the forks that run programs on PyTorch."""

import atexit
import contextlib
import gc


def import_once():
    """Imports PyTorch and what programs import through it, so that no fork imports it again."""
    import torch

    torch.set_num_threads(1)
    # The first optimizer of a process imports this package (900 modules), which takes seconds.
    import torch._dynamo  # noqa: F401

    with contextlib.suppress(ImportError):
        import torchvision  # noqa: F401
    # A fork does not collect these objects: that would copy their memory.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)
