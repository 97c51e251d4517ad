"""Emulates CUDA on a machine without a GPU.

Tensors are on the CPU, and the arithmetic is that of the CPU. A tensor of a GPU has a tag at its
storage (`tags`), so views, `.data` and aliases have it, too. A `TorchDispatchMode` (`mode`) sees
every operation after PyTorch has decomposed it, including those of autograd. It gives each result
the device of the arguments, and rejects mixes of devices that CUDA's kernels reject (`mixes`).
`tensors` replaces the methods of tensors that report or change the device; `cuda` replaces functions
of `torch.cuda`.

The emulation does not show the rounding of CUDA's kernels, the concurrency of streams, or the use
of memory.
"""

import os

from . import autocast, cuda, mode, storages, tensors, world


def install(gpus, report):
    """Emulates this number of GPUs. Returns the mode to enter in each thread."""
    world.current = world.World(gpus, report)
    device_mode = mode.VirtualDevice(world.current)
    cuda.install(world.current)
    tensors.install()
    storages.install()
    autocast.install()
    os.register_at_fork(after_in_child=world.current.forked)
    return device_mode
