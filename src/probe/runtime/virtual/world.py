"""The virtual machine: the number of GPUs, the current one, and whether they still work."""

import threading

import torch

CPU = torch.device("cpu")


def accelerator_error(message):
    """An error of CUDA. Since PyTorch 2.8 it has its own class."""
    return getattr(torch, "AcceleratorError", RuntimeError)(message)


class World:
    def __init__(self, gpus, report):
        self.gpus = gpus
        self.report = report
        self.initialized = False
        self.bad_fork = False
        # The error that every operation on a GPU raises after a failed assert in a kernel has
        # destroyed the context.
        self.broken = None
        self._local = threading.local()

    @property
    def current_index(self):
        return getattr(self._local, "index", 0)

    @current_index.setter
    def current_index(self, index):
        self._local.index = index

    def forked(self):
        self.bad_fork = self.initialized

    def initialize(self):
        """Runs at the first use of a GPU in a process."""
        if self.bad_fork:
            raise RuntimeError(
                "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
                "you must use the 'spawn' start method"
            )
        self.initialized = True

    def check(self):
        """Raises if the GPUs can no longer be used."""
        if self.broken is not None:
            raise accelerator_error(self.broken)
        if self.bad_fork:
            raise accelerator_error("CUDA error: initialization error")

    def index(self, device):
        """The index of the GPU that is given as a device, as an index, or as None (the current one)."""
        if device is None:
            return self.current_index
        if isinstance(device, str):
            device = torch.device(device)
        index = device.index if isinstance(device, torch.device) else int(device)
        if index is None or index == -1:
            index = self.current_index
        if not 0 <= index < self.gpus:
            raise accelerator_error(
                "CUDA error: invalid device ordinal\n"
                "GPU device may be out of range, do you have enough GPUs?\n"
                f"(The virtual machine has {self.gpus}; `--gpus` gives it more.)"
            )
        return index

    def resolve(self, device):
        """The device as a tensor reports it: a GPU always has an index."""
        if isinstance(device, int) and not isinstance(device, bool):
            device = torch.device("cuda", device)
        elif not isinstance(device, torch.device):
            device = torch.device(device)
        if device.type != "cuda":
            return device
        self.initialize()
        return torch.device("cuda", self.index(device))


current = None
