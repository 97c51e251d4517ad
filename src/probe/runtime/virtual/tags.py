"""The device of a tensor: a tag at its storage, so that views and aliases have it, too.

The tags are in a table, by the address of the storage. A weak reference to each storage prevents
its address from being reused; entries of freed storages are removed from time to time. (PyTorch
does not always keep attributes of a storage: in 2.6 they are lost by `copy_` after a save.)
"""

import torch

from .world import CPU

# The class had another name before PyTorch 2.2.
Base = getattr(torch._C, "TensorBase", None) or torch._C._TensorBase
_storage_of = Base.untyped_storage
_real_device = Base.device.__get__
_NAME = "_torchvet_device"
_tags = {}
_PINNED = object()


class Guess:
    """The tag of a tensor that PyTorch itself created inside a call. On a machine with GPUs, the
    device of the tensor is not certain, so the tag is compatible with every device."""

    __slots__ = ("device",)

    def __init__(self, device):
        self.device = device


class _Sweep:
    """When the table has doubled, entries of freed storages are removed."""

    limit = 4096

    @classmethod
    def run(cls):
        for address in list(_tags):
            if torch.UntypedStorage._expired(address) and _tags.pop(address, None) is not None:
                torch.UntypedStorage._free_weak_ref(address)
        cls.limit = max(4096, 2 * len(_tags))


def _bearer(tensor):
    """The object that has the tag of a tensor: its storage, or the tensor itself if it has no
    storage, such as a sparse tensor."""
    try:
        return _storage_of(tensor)
    except (NotImplementedError, RuntimeError):
        functorch = torch._C._functorch
        if functorch.is_functorch_wrapped_tensor(tensor):
            return _bearer(functorch.get_unwrapped(tensor))
        return tensor


def of_bearer(bearer):
    if isinstance(bearer, torch.UntypedStorage):
        tag = _tags.get(bearer._cdata)
        return None if tag is _PINNED else tag
    return getattr(bearer, _NAME, None)


def put_on_bearer(bearer, tag):
    if not isinstance(bearer, torch.UntypedStorage):
        setattr(bearer, _NAME, tag)
        return
    address = bearer._cdata
    if address in _tags:
        _tags[address] = tag
    elif tag is not None:
        if len(_tags) > _Sweep.limit:
            _Sweep.run()
        bearer._weak_ref()
        _tags[address] = tag


def get(tensor):
    """The tag: a device, a `Guess`, or None for the CPU."""
    return of_bearer(_bearer(tensor))


def put(tensor, tag):
    """Gives a tag to a tensor and to all tensors that share its storage."""
    put_on_bearer(_bearer(tensor), None if tag == CPU else tag)


def put_if_new(tensor, tag):
    bearer = _bearer(tensor)
    if of_bearer(bearer) is None:
        put_on_bearer(bearer, tag)


def pin(tensor):
    put_on_bearer(_storage_of(tensor), _PINNED)


def is_pinned(tensor):
    return _tags.get(_storage_of(tensor)._cdata) is _PINNED


def key(tensor):
    """A key that is equal for tensors that share memory."""
    bearer = _bearer(tensor)
    return getattr(bearer, "_cdata", id(bearer))


def device_of(tensor):
    """The device that a tensor reports."""
    with torch._C.DisableTorchFunction():
        real = _real_device(tensor)
        if real.type != "cpu":
            return real
        tag = get(tensor)
    if tag is None:
        return real
    return tag.device if tag.__class__ is Guess else tag


def of_storage(storage):
    tag = of_bearer(storage)
    return tag.device if tag.__class__ is Guess else tag


def put_on_storage(storage, tag):
    put_on_bearer(storage, None if tag == CPU else tag)
