"""What a tensor reports about its device, and how it is moved.

Methods and properties are replaced in `torch.Tensor`, so that PyTorch's own Python code sees the
same as the program. Like PyTorch's own functions in Python, a new method first passes the call to the
modes that intercept functions.
"""

import functools
import sys

import torch
import torch.utils._device
from torch.overrides import handle_torch_function, has_torch_function_unary

from . import tags, world
from .tags import Base as _Base
from .world import CPU


def _is_gpu(tensor):
    return tags.device_of(tensor).type == "cuda"


def moved(tensor, device, dtype=None, memory_format=torch.preserve_format):
    """A copy on another device. The gradient is moved back."""
    home = tags.device_of(tensor)
    copy = _Base.to(tensor, dtype or tensor.dtype, False, True, memory_format=memory_format)
    tags.put(copy, device)
    if copy.grad_fn is not None and home != device:

        def back(grad_inputs, _):
            return tuple(None if grad is None else _retagged(grad, home) for grad in grad_inputs)

        copy.grad_fn.register_hook(back)
    return copy


def _retagged(tensor, device):
    copy = tensor.clone()
    tags.put(copy, device)
    return copy


def _method(function):
    """Replaces the method of `torch.Tensor` that has the name of this function."""
    original = getattr(_Base, function.__name__, None) or getattr(torch.Tensor, function.__name__)

    @functools.wraps(original, assigned=("__name__", "__doc__"), updated=())
    def method(self, *args, **kwargs):
        if has_torch_function_unary(self):
            return handle_torch_function(method, (self,), self, *args, **kwargs)
        return function(self, *args, **kwargs)

    lazy = torch.nn.parameter.UninitializedTensorMixin
    if getattr(torch.Tensor, function.__name__) in lazy._allowed_methods:
        lazy._allowed_methods.append(method)
    setattr(torch.Tensor, function.__name__, method)


def _function(name, function):
    """Replaces the function of `torch` with this name. The new one gets the original as its first
    argument."""
    original = getattr(torch, name)

    @functools.wraps(original, assigned=("__name__", "__doc__"), updated=())
    def call(*args, **kwargs):
        if torch._C._is_torch_function_mode_enabled():
            return handle_torch_function(call, (), *args, **kwargs)
        return function(original, *args, **kwargs)

    setattr(torch, name, call)


def _to(tensor, device, dtype, copy, memory_format, non_blocking=False):
    here = tags.device_of(tensor)
    if device is not None:
        device = world.current.resolve(device)
    if device is None or device == here:
        return _Base.to(tensor, dtype or tensor.dtype, non_blocking, copy, memory_format=memory_format)
    if device.type not in ("cpu", "cuda") or here.type not in ("cpu", "cuda"):
        return _Base.to(tensor, device, dtype, non_blocking, copy, memory_format=memory_format)
    return moved(tensor, device, dtype, memory_format)


def _parse_to(args, kwargs):
    """The device and the dtype that the arguments of `Tensor.to` name."""
    kwargs = dict(kwargs)
    copy = kwargs.pop("copy", False)
    other = kwargs.pop("other", None)
    rest = list(args)
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
    if other is not None:
        device, dtype = tags.device_of(other), other.dtype
        names = ("non_blocking", "copy")
    elif rest and isinstance(rest[0], torch.dtype):
        device, dtype = None, rest.pop(0)
        names = ("non_blocking", "copy")
    else:
        device = rest.pop(0) if rest else None
        dtype = None
        names = ("dtype", "non_blocking", "copy")
    given = dict(zip(names, rest), **kwargs)
    if len(rest) > len(names) or set(given) - {"device", "dtype", "non_blocking", "copy", "memory_format"}:
        return None
    device = given.get("device", device)
    dtype = given.get("dtype", dtype)
    memory_format = given.get("memory_format") or torch.preserve_format
    return device, dtype, given.get("copy", copy), memory_format, given.get("non_blocking", False)


def install():
    def get(name, function):
        setattr(torch.Tensor, name, property(function, doc=getattr(_Base, name).__doc__))

    get("device", tags.device_of)
    get("is_cuda", _is_gpu)
    get("is_cpu", lambda self: tags.device_of(self).type == "cpu")

    @_method
    def get_device(self):
        index = tags.device_of(self).index
        return -1 if index is None else index

    @_method
    def to(self, *args, **kwargs):
        parsed = _parse_to(args, kwargs)
        if parsed is None:
            return _Base.to(self, *args, **kwargs)  # raises the error
        return _to(self, *parsed)

    @_method
    def cuda(self, device=None, non_blocking=False, memory_format=torch.preserve_format):
        index = world.current.index(device)
        world.current.initialize()
        return _to(self, torch.device("cuda", index), None, False, memory_format)

    @_method
    def cpu(self, memory_format=torch.preserve_format):
        return _to(self, CPU, None, False, memory_format)

    @_method
    def numpy(self, *, force=False):
        if _is_gpu(self):
            if not force:
                raise TypeError(
                    f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the "
                    "tensor to host memory first."
                )
            return self.detach().cpu().numpy(force=True)
        return _Base.numpy(self, force=force)

    @_method
    def type(self, dtype=None, non_blocking=False, **kwargs):
        if dtype is None:
            name = _Base.type(self)
            return name.replace("torch.", "torch.cuda.", 1) if _is_gpu(self) else name
        name = dtype if isinstance(dtype, str) else getattr(dtype, "typename", None)
        if name is None:
            return _Base.type(self, dtype, non_blocking, **kwargs)
        place = torch.device("cuda") if name.startswith("torch.cuda.") else CPU
        return _to(
            _Base.type(self, name.replace(".cuda", ""), non_blocking, **kwargs),
            place,
            None,
            False,
            torch.preserve_format,
        )

    @_method
    def type_as(self, other):
        return _to(self, tags.device_of(other), other.dtype, False, torch.preserve_format)

    @_method
    def pin_memory(self, device=None):
        if _is_gpu(self):
            raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
        if self.is_pinned():
            return self
        world.current.initialize()
        copy = self.detach().clone()
        tags.pin(copy)
        return copy

    @_method
    def is_pinned(self, device=None):
        return tags.is_pinned(self)

    @_method
    def record_stream(self, stream):
        return None

    @_method
    def new_tensor(self, data, *, device=None, **kwargs):
        target = world.current.resolve(device) if device is not None else tags.device_of(self)
        if isinstance(data, torch.Tensor):
            data = data.cpu()
        new = _Base.new_tensor(self, data, **kwargs)
        tags.put(new, target)
        return new

    def tensor(original, data, *, device=None, **kwargs):
        if device is None:
            device = tags.device_of(data) if isinstance(data, torch.Tensor) else CPU
        target = world.current.resolve(device)
        if target.type not in ("cpu", "cuda"):
            return original(data, device=target, **kwargs)
        if kwargs.pop("pin_memory", False):
            return tensor(original, data, device=device, **kwargs).pin_memory()
        new = original(data, **kwargs)
        tags.put(new, target)
        return new

    def as_tensor(original, data, dtype=None, device=None):
        if device is None:
            return original(data, dtype=dtype)
        return original(data, dtype=dtype).to(device)

    def asarray(original, obj, *, device=None, **kwargs):
        if device is None:
            return original(obj, **kwargs)
        return original(obj, **kwargs).to(device)

    _function("tensor", tensor)
    _function("as_tensor", as_tensor)
    _function("asarray", asarray)
    # Clears the cached list of functions to which the default device applies.
    sys.modules["torch.utils._device"]._device_constructors.cache_clear()
