"""`torch.cuda`, as it behaves with GPUs. Streams run everything immediately, and memory is not
counted."""

import collections
import contextlib
import sys
import time

import torch

from . import tags
from .world import CPU

_NAME = "Virtual CUDA device (torchvet)"
_MEMORY = 80 * 2**30
_CAPABILITY = (8, 0)
_PATCHED = ("torch.cuda", "torch.cuda.memory", "torch.cuda.random", "torch.cuda.streams", "torch.cuda.nvtx")
_PATCHED += ("torch.accelerator", "torch.accelerator.memory")


class Properties:
    name = _NAME
    major, minor = _CAPABILITY
    total_memory = _MEMORY
    multi_processor_count = 108
    max_threads_per_multi_processor = 2048
    regs_per_multiprocessor = 65536
    shared_memory_per_block = 49152
    warp_size = 32
    is_integrated = is_multi_gpu_board = 0
    gcnArchName = _NAME
    uuid = "00000000-0000-0000-0000-000000000000"

    def __repr__(self):
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count})"
        )


class Stream:
    """A stream whose work is always done already."""

    def __init__(self, device=None, priority=0, **kwargs):
        self.device = torch.device("cuda", _world.index(device))
        self.device_index = self.device.index
        self.priority = priority
        self.cuda_stream = self.stream_id = 0
        self.device_type = 1

    def wait_event(self, event):
        pass

    def wait_stream(self, stream):
        pass

    def synchronize(self):
        pass

    def query(self):
        return True

    def is_capturing(self):
        return False

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __eq__(self, other):
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self):
        return hash(self.device)


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False, **kwargs):
        self._at = None

    def record(self, stream=None):
        self._at = time.perf_counter()

    def elapsed_time(self, end):
        return (end._at - self._at) * 1000

    def query(self):
        return True

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass


class device:
    """`with torch.cuda.device(1):`"""

    def __init__(self, device):
        self.idx = None if device is None else _world.index(device)
        self.prev_idx = -1

    def __enter__(self):
        self.prev_idx = _world.current_index
        if self.idx is not None:
            _world.current_index = self.idx

    def __exit__(self, *_):
        _world.current_index = self.prev_idx
        return False


class device_of(device):
    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else None)


class _StreamContext:
    def __init__(self, stream):
        self.stream = stream
        self._device = device(stream.device if stream is not None else None)

    def __enter__(self):
        self._device.__enter__()
        return self.stream

    def __exit__(self, *error):
        return self._device.__exit__(*error)


class _GeneratorKind(type(torch._C.Generator)):
    def __instancecheck__(cls, instance):
        return isinstance(instance, torch._C.Generator)


class Generator(torch._C.Generator, metaclass=_GeneratorKind):
    """A generator of a GPU or of the CPU. Both draw the same numbers."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls, device="cpu")
        made._device = torch.device(device) if not isinstance(device, torch.device) else device
        if made._device.type == "cuda":
            made._device = _world.resolve(made._device)
        return made

    def __init__(self, device="cpu"):
        pass

    @property
    def device(self):
        return self._device


class _TensorKind(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, torch.Tensor) and instance.type() == cls.typename


def _tensor_type(name):
    """`torch.cuda.FloatTensor`"""
    plain = getattr(torch, name)

    def make(cls, *args, **kwargs):
        made = plain(*args, **kwargs)
        tags.put(made, torch.device("cuda", _world.index(None)))
        return made

    members = {"typename": f"torch.cuda.{name}", "__new__": make, "dtype": plain.dtype, "is_cuda": True}
    return _TensorKind(name, (), members)


def _constant(make):
    """A new function for each name, because `torch.compile` keeps a table of these functions."""
    return lambda *args, **kwargs: make()


def _names(world):
    """The replacements of functions in `torch.cuda` and `torch.accelerator`."""

    def set_device(device):
        index = world.index(device)
        world.initialize()
        world.current_index = index

    def checked(result):
        def function(*args, **kwargs):
            world.initialize()
            return result

        return function

    def get_device_properties(device=None):
        world.index(device)
        world.initialize()
        return Properties()

    def synchronize(*args, **kwargs):
        world.initialize()
        world.check()

    def current_stream(device=None):
        return Stream(device)

    names = {
        "_lazy_init": world.initialize,
        "init": world.initialize,
        "is_initialized": lambda: world.initialized,
        "_is_in_bad_fork": lambda: world.bad_fork,
        "_is_compiled": lambda: True,
        "is_available": lambda: True,
        "device_count": lambda: world.gpus,
        "current_device": lambda: world.initialize() or world.current_index,
        "set_device": set_device,
        "get_device_name": checked(_NAME),
        "get_device_properties": get_device_properties,
        "get_device_capability": checked(_CAPABILITY),
        "get_arch_list": lambda: [f"sm_{major}{minor}" for major, minor in ((7, 5), (8, 0), (9, 0))],
        "is_bf16_supported": lambda *args, **kwargs: True,
        "is_tf32_supported": lambda: True,
        "can_device_access_peer": lambda *args: True,
        "synchronize": synchronize,
        "ipc_collect": _constant(lambda: None),
        "empty_cache": _constant(lambda: None),
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "device": device,
        "device_of": device_of,
        "stream": _StreamContext,
        "StreamContext": _StreamContext,
        "current_stream": current_stream,
        "default_stream": current_stream,
        "is_current_stream_capturing": lambda: False,
        "set_stream": _constant(lambda: None),
        "current_blas_handle": _constant(int),
        "mem_get_info": checked((_MEMORY, _MEMORY)),
        "memory_stats": _constant(lambda: collections.defaultdict(int)),
        "memory_summary": _constant(lambda: "No memory is counted on a virtual device."),
        "memory_snapshot": _constant(list),
        "list_gpu_processes": _constant(lambda: "no processes are running"),
        "utilization": _constant(int),
        "temperature": _constant(int),
        "power_draw": _constant(int),
        "clock_rate": _constant(int),
        "manual_seed": _constant(lambda: None),
        "manual_seed_all": _constant(lambda: None),
        "seed": _constant(lambda: None),
        "seed_all": _constant(lambda: None),
        "initial_seed": lambda: torch.initial_seed(),
        # The CPU and all GPUs share one generator.
        "get_rng_state": lambda device="cuda": torch.get_rng_state(),
        "set_rng_state": lambda state, device="cuda": torch.set_rng_state(state),
        "get_rng_state_all": lambda: [torch.get_rng_state() for _ in range(world.gpus)],
        "set_rng_state_all": lambda states: torch.set_rng_state(states[0]),
        "range": contextlib.nullcontext,
        "range_push": _constant(int),
        "range_pop": _constant(int),
        "mark": _constant(lambda: None),
        # of torch.accelerator
        "current_accelerator": lambda *args, **kwargs: torch.device("cuda"),
        "current_device_index": lambda: world.current_index,
        "current_device_idx": lambda: world.current_index,
        "set_device_index": set_device,
        "set_device_idx": set_device,
        "device_index": device,
    }
    zeros = "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached"
    names.update({name: _constant(int) for name in zeros.split()})
    resets = "reset_peak_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached"
    resets += " set_per_process_memory_fraction _set_allocator_settings"
    names.update({name: _constant(lambda: None) for name in resets.split()})
    names["default_generators"] = tuple(Generator(f"cuda:{index}") for index in range(world.gpus))
    for name in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        names[f"{name}Tensor"] = _tensor_type(f"{name}Tensor")
    return names


_world = None


def install(world):
    global _world
    _world = world
    guard = getattr(torch._C, "_ensureCUDADeviceGuardSet", None)
    if guard is not None:
        guard()
    torch.Generator = Generator
    initialized = world.initialized
    names = _names(world)
    world.initialized = initialized
    for module in filter(None, map(sys.modules.get, _PATCHED)):
        for name, value in names.items():
            if hasattr(module, name):
                setattr(module, name, value)
    for name in ("manual_seed", "manual_seed_all", "default_generators"):
        setattr(torch.cuda, name, names[name])
    torch.Stream = getattr(torch, "Stream", None) and Stream
    torch.Event = getattr(torch, "Event", None) and Event
    torch.version.cuda = torch.version.cuda or "12.8"
    torch.backends.cuda.is_built = lambda: True
    torch.backends.cudnn.is_available = lambda: True
    # Recurrent layers use it to decide whether to arrange their weights for cuDNN.
    torch.backends.cudnn.is_acceptable = lambda tensor: False
    _scatter_and_gather()
    _distributed()


def _scatter_and_gather():
    """The functions that `nn.DataParallel` uses; the originals are C++ code of the CUDA build."""
    from torch.nn.parallel import comm

    def target(index):
        return torch.device("cuda", _world.index(index))

    def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
        if chunk_sizes is not None:
            parts = tensor.split(list(chunk_sizes), dim)
        else:
            parts = tensor.chunk(len(devices), dim)
        return tuple(part.to(target(index)) for part, index in zip(parts, devices))

    def gather(tensors, dim=0, destination=None, *, out=None):
        place = CPU if destination in ("cpu", -1, CPU) else target(destination)
        return torch.cat([tensor.to(place) for tensor in tensors], dim)

    def broadcast(tensor, devices=None, *, out=None):
        return tuple(tensor.to(target(index)) for index in devices)

    def broadcast_coalesced(tensors, devices, buffer_size=10485760):
        return [[tensor.to(target(index)) for tensor in tensors] for index in devices]

    def reduce_add(inputs, destination=None):
        place = target(destination)
        return sum(tensor.to(place) for tensor in inputs)

    def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
        return tuple(reduce_add(group, destination) for group in zip(*inputs))

    mine = (scatter, gather, broadcast, broadcast_coalesced, reduce_add, reduce_add_coalesced)
    for function in mine:
        setattr(comm, function.__name__, function)


def _distributed():
    """NCCL needs real GPUs, so Gloo replaces it."""
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available():
        return
    from torch.distributed import distributed_c10d

    def with_gloo(function):
        def call(*args, **kwargs):
            args = ["gloo" if arg == "nccl" else arg for arg in args]
            backend = kwargs.get("backend")
            if backend is None and not any(isinstance(arg, str) for arg in args) or "nccl" in str(backend):
                kwargs["backend"] = "gloo"
            kwargs.pop("device_id", None)
            return function(*args, **kwargs)

        return call

    for name in ("init_process_group", "new_group"):
        replaced = with_gloo(getattr(distributed_c10d, name))
        setattr(distributed_c10d, name, replaced)
        setattr(distributed, name, replaced)
