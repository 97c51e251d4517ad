"""Makes storages keep their device when they are copied, saved, or sent to other processes."""

from multiprocessing.reduction import ForkingPickler

import torch
import torch.multiprocessing.reductions

from . import tags, world
from .world import CPU


def install():
    def moved(self, device):
        copy = torch.UntypedStorage(self.nbytes()).copy_(self)
        tags.put_on_storage(copy, device)
        return copy

    torch.UntypedStorage.clone = lambda self: moved(self, tags.of_storage(self))

    def location(storage):
        storage = getattr(storage, "_untyped_storage", storage)
        tag = tags.of_storage(storage) if isinstance(storage, torch.UntypedStorage) else None
        return None if tag is None else str(tag)

    def restore(storage, place):
        if not str(place).startswith("cuda"):
            return None
        device = torch.device(place)
        if (device.index or 0) >= world.current.gpus:
            raise RuntimeError(
                f"Attempting to deserialize object on CUDA device {device.index} but "
                f"torch.cuda.device_count() is {world.current.gpus}. Please use torch.load with map_location "
                "to map your storages to an existing device."
            )
        storage = getattr(storage, "_untyped_storage", storage)
        tags.put_on_storage(storage, world.current.resolve(device))
        return storage

    # Packages with smaller numbers come first, and PyTorch's own package for the CPU has 10.
    torch.serialization.register_package(5, location, restore)

    def cuda(self, device=None, non_blocking=False):
        return moved(self, torch.device("cuda", world.current.index(device)))

    def cpu(self):
        return self if tags.of_storage(self) is None else moved(self, CPU)

    torch.UntypedStorage.cuda = cuda
    torch.UntypedStorage.cpu = cpu
    _share()


def _share():
    """Makes a storage keep its device when it is sent to another process. Both processes share the
    memory, as for storages on the CPU."""
    reductions = torch.multiprocessing.reductions
    reduce = reductions.reduce_storage

    def reduce_storage(storage):
        tag = tags.of_storage(storage)
        found = reduce(storage)
        return found if tag is None else (rebuilt, (str(tag), *found))

    ForkingPickler.register(torch.UntypedStorage, reduce_storage)


def rebuilt(tag, rebuild, arguments):
    storage = rebuild(*arguments)
    tags.put_on_storage(storage, world.current.resolve(tag))
    return storage
