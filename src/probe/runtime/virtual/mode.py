"""Observes every operation, gives its results a device, and rejects mixes of devices and some other
calls that CUDA rejects."""

import threading

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import asserts, mixes, tags
from .tags import Guess
from .world import CPU

_UNPACK = torch._VF._pad_packed_sequence
_UNSAFE = """\
torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.
Many models use a sigmoid layer right before the binary cross entropy layer.
In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits
or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are
safe to autocast."""


class _Calls(threading.local):
    """The call of PyTorch's Python interface that is running, and the GPU used last."""

    call = None
    last = None


calls = _Calls()


class Calls(TorchFunctionMode):
    """Records the call in the program to which an operation belongs."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        before, calls.call = calls.call, (func, args, kwargs or {})
        if kwargs and type(kwargs.get("device")) is int:
            # For a number as device, PyTorch before 2.7 asks the driver for the type of the device.
            kwargs = dict(kwargs, device=torch.device("cuda", kwargs["device"]))
        try:
            mixes.before_call(func, args)
            if (
                func is F.binary_cross_entropy
                and torch.is_autocast_enabled()
                and tags.get(args[0]) is not None
            ):
                raise RuntimeError(_UNSAFE)
            result = func(*args, **kwargs) if kwargs else func(*args)
            if func is _UNPACK:
                tags.put(result[1], CPU)  # the lengths
            return result
        except RuntimeError as error:
            if func is F.one_hot and tags.get(args[0]) is not None:
                asserts.raised("one_hot", error)
            raise
        finally:
            calls.call = before


def tensors_in(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def _gpu_of_call():
    """The GPU of the call to which an operation belongs; None if the call uses no GPU. Outside any
    call: in a backward pass, the GPU used last; otherwise the CPU."""
    if calls.call is None:
        # C++ code outside any call: the autograd engine, or a class such as the buckets of
        # DistributedDataParallel.
        return calls.last if torch._C._current_graph_task_id() != -1 and calls.last else CPU
    _, args, kwargs = calls.call
    for tensor in tensors_in((*args, *kwargs.values())):
        tag = tags.get(tensor)
        if tag is not None:
            return tag.device if tag.__class__ is Guess else tag
    return None


def _check_generator(target):
    """Rejects a generator that is not on the device for which it draws. The operation gets another
    Python object, so the program's own generator is read from the arguments of the call."""
    generator = calls.call[2].get("generator") if calls.call is not None else None
    if generator is None:
        return
    wanted = "cuda" if target.__class__ is torch.device and target != CPU else "cpu"
    if generator.device.type != wanted:
        raise RuntimeError(
            f"Expected a '{wanted}' device type for generator but found '{generator.device.type}'"
        )


class VirtualDevice(TorchDispatchMode):
    def __init__(self, world):
        super().__init__()
        self.world = world
        self._modes = threading.local()

    @classmethod
    def _should_skip_dynamo(cls):
        """PyTorch's own method imports the compiler, which takes seconds. Nothing is compiled here."""
        return False

    def __enter__(self):
        modes = self._modes.__dict__.setdefault("entered", [])
        modes.append(Calls())
        modes[-1].__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self._modes.entered.pop().__exit__(*error)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunction():
            return self._run(func, args, kwargs or {})

    def _run(self, func, args, kwargs):
        tensors = list(tensors_in(args))
        if kwargs:
            tensors += tensors_in(kwargs.values())
        here, mixed, guess = None, False, None
        for tensor in tensors:
            tag = tags.get(tensor)
            if tag.__class__ is Guess:
                guess = tag
            elif here is None:
                here = tag or CPU
            elif here != (tag or CPU):
                mixed = True
        target = here or guess
        aliases = ()
        if mixed:
            target = mixes.judge(func, args, kwargs, calls.call and calls.call[0])
            aliases = {tags.key(tensor) for tensor in tensors if tags.get(tensor) is None}
        elif here == CPU and calls.call is not None and mixes.moves(calls.call[0]):
            # What is computed from an argument after PyTorch has moved it. The backward pass reads it.
            target = _gpu_of_call()
            aliases = {tags.key(tensor) for tensor in tensors}
        mixes.before(func, args, kwargs)
        if "device" in kwargs or "pin_memory" in kwargs:
            target, kwargs = self._make(func, tensors, target, kwargs)
        if target.__class__ is torch.device and target != CPU:
            calls.last = target
            self.world.check()
        if kwargs.get("generator") is not None:
            _check_generator(target)
        try:
            result = func(*args, **kwargs)
        except (IndexError, RuntimeError, ValueError) as error:
            if here is not None and here.type == "cuda" or mixed:
                asserts.raised(func._schema.name.partition("::")[2], error)
            raise
        if target is not None and target != CPU:
            mixes.after(func, args, result, target, aliases)
        return result

    def _make(self, func, tensors, target, kwargs):
        """The device of a new tensor, and the arguments changed to those that the CPU supports."""
        kwargs = dict(kwargs)
        if kwargs.get("pin_memory"):
            self.world.initialize()
            kwargs["pin_memory"] = False
        wanted = kwargs.get("device")
        if wanted is None:
            return target if tensors else self._of_unsaid(), kwargs
        if wanted.type == "cuda":
            kwargs["device"] = CPU
            return self.world.resolve(wanted), kwargs
        if wanted.type != "cpu":
            return None, kwargs
        if not tensors:
            return self._of_unsaid(), kwargs
        # If PyTorch, not the program, passes the device, it is the real device of an argument, the
        # CPU. The result then gets the emulated device of the arguments.
        said = calls.call is not None and calls.call[2].get("device") is not None
        return None if said else target, kwargs

    def _of_unsaid(self):
        """The tag of a tensor that is created without tensor arguments and without a GPU as `device`.
        PyTorch may have created it inside a call, for the GPU of an argument of this call."""
        gpu = _gpu_of_call()
        return None if gpu is None else Guess(gpu)
