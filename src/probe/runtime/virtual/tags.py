"""The device of a tensor: a tag at its storage, so that views and aliases have it, too."""

import torch

from .world import CPU

_storage_of = torch._C.TensorBase.untyped_storage
_real_device = torch._C.TensorBase.device.__get__
_NAME = "_torchvet_device"


class Guess:
    """The tag of what PyTorch itself made inside of a call: where that would be on a machine
    with GPUs is not known for certain, so that it goes together with everything."""

    __slots__ = ("device",)

    def __init__(self, device):
        self.device = device


def _bearer(tensor):
    """What bears a tensor's tag: its storage; the tensor itself where it has none, as a sparse
    one."""
    try:
        return _storage_of(tensor)
    except (NotImplementedError, RuntimeError):
        functorch = torch._C._functorch
        if functorch.is_functorch_wrapped_tensor(tensor):
            return _bearer(functorch.get_unwrapped(tensor))
        return tensor


def get(tensor):
    """The tag: a device, a `Guess`, or None for the CPU."""
    return getattr(_bearer(tensor), _NAME, None)


def put(tensor, tag):
    """Gives a tensor, and all that share its storage, a tag."""
    setattr(_bearer(tensor), _NAME, None if tag == CPU else tag)


def put_if_new(tensor, tag):
    bearer = _bearer(tensor)
    if getattr(bearer, _NAME, None) is None:
        setattr(bearer, _NAME, tag)


def key(tensor):
    """What two tensors have in common that share memory."""
    bearer = _bearer(tensor)
    return getattr(bearer, "_cdata", id(bearer))


def device_of(tensor):
    """The device that a tensor says it is on."""
    with torch._C.DisableTorchFunction():
        real = _real_device(tensor)
        if real.type != "cpu":
            return real
        tag = get(tensor)
    if tag is None:
        return real
    return tag.device if tag.__class__ is Guess else tag


def of_storage(storage):
    tag = getattr(storage, _NAME, None)
    return tag.device if tag.__class__ is Guess else tag


def put_on_storage(storage, tag):
    setattr(storage, _NAME, None if tag == CPU else tag)
