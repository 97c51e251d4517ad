"""CUDA on a machine that has none.

Tensors live on the CPU, and the arithmetic is the CPU's. What makes a tensor one of a GPU is a
tag at its storage (`tags`): so views, `.data` and aliases have it, too. A `TorchDispatchMode`
(`mode`) sees every operation after PyTorch has taken it apart, also those of autograd: it gives
results the device of their arguments, and refuses what CUDA's kernels refuse (`mixes`). What a
program asks a tensor or `torch.cuda` about devices is answered by `tensors` and `cuda`.

What it cannot show: how CUDA's kernels round, what runs at the same time, what memory is used.
"""

import os

from . import autocast, cuda, mode, storages, tensors, world


def install(gpus, report):
    """Makes PyTorch say that there are so many GPUs. Returns the mode to enter in each thread."""
    world.current = world.World(gpus, report)
    device_mode = mode.VirtualDevice(world.current)
    cuda.install(world.current)
    tensors.install()
    storages.install()
    autocast.install()
    os.register_at_fork(after_in_child=world.current.forked)
    return device_mode
