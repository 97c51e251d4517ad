"""Which devices an operation may mix, and which error CUDA raises for other mixes.

PyTorch generates its checks from `native_functions.yaml`, which is in the wheel. An operation with
`device_check: NoCheck` is assumed to leave the check to TensorIterator, which accepts scalars on
the CPU; any other operation with a CUDA kernel needs all its tensors on one device. This module also
repeats checks that are written by hand in PyTorch.
"""

import functools
import pathlib
import re

import torch

from . import tags
from .tags import Guess
from .world import CPU

# These accept tensors on several devices: they move data between devices, or read only a shape or
# a few values.
_FREE = frozenset(
    (
        "copy_", "_copy_from", "_copy_from_and_resize", "_to_copy", "set_", "resize_as_", "is_same_size",
        "record_stream", "fill_", "fill", "_local_scalar_dense", "lift", "lift_fresh", "_ctc_loss",
        "_ctc_loss_backward", "_pack_padded_sequence", "_pad_packed_sequence", "_pack_padded_sequence_backward",
        "_foreach_copy_", "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter",
        "linspace", "logspace"
    )
)  # fmt: skip
# Operations that run another operation on CUDA: the wrapper of that operation, and the names that it
# has for the arguments.
_ON_CUDA = {
    "embedding": ("wrapper_CUDA__index_select", {"indices": "index"}),
    "stack": ("wrapper_CUDA_cat", {}),
    "mkldnn_linear": ("wrapper_CUDA_addmm", {"input": "mat1", "weight": "mat2"}),
}
# Arguments that must not be scalars on the CPU, although the operation leaves its check to
# TensorIterator. Seen on a GPU: `python tests/virtual_oracle.py --with cuda`.
_NO_SCALARS = {
    "mse_loss": ("self", "target"),
    "binary_cross_entropy": ("self", "target"),
    "binary_cross_entropy_with_logits": ("target",),
    "soft_margin_loss": ("self",),
    "logical_and": ("self",),
    "logical_or": ("self",),
    "logical_xor": ("self",),
    "complex": ("real", "imag"),
    "polar": ("abs", "angle"),
    "index_fill": ("self",),
    "linalg_pinv": ("atol", "rtol"),
}
_RNNS = {getattr(torch._VF, name, None): name for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
_TYPE_NAMES = {
    torch.float32: "Float",
    torch.float64: "Double",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
    torch.int64: "Long",
    torch.int32: "Int",
    torch.int16: "Short",
    torch.int8: "Char",
    torch.uint8: "Byte",
    torch.bool: "Bool",
    torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble",
}


def type_name(tensor):
    """The name that `Tensor.type` returns, such as `torch.cuda.FloatTensor`."""
    gpu = "cuda." if tags.device_of(tensor).type == "cuda" else ""
    return f"torch.{gpu}{_TYPE_NAMES.get(tensor.dtype, tensor.dtype)}Tensor"


def _is_newer(major, minor):
    return torch.__version__ >= (major, minor)


# --- what PyTorch's list of operations says ------------------------------------------------


class _Operation:
    def __init__(self, text):
        self.checks_nothing = "device_check: NoCheck" in text
        self.structured = "structured_delegate:" in text or "structured: True" in text
        self.on_cuda = (
            self.structured or re.search(r"^ +[\w, ]*\bCUDA\b[\w, ]*:", text, re.MULTILINE) is not None
        )


@functools.cache
def _operations():
    try:
        import torchgen

        folder = pathlib.Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
        text = (folder / "native_functions.yaml").read_text(encoding="utf-8")
    except (ImportError, OSError):
        return {}
    blocks = re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]
    return {block.partition("(")[0]: _Operation(block) for block in blocks}


def _operation(schema):
    base = schema.name.partition("::")[2]
    name = f"{base}.{schema.overload_name}" if schema.overload_name else base
    return base, _operations().get(name)


def _wrapper(schema, base, operation):
    """The name of the generated wrapper of a kernel."""
    out = "_out" if any(_is_out(argument) for argument in schema.arguments) else ""
    if operation.structured:
        overload = f"_{schema.overload_name}" if schema.overload_name else ""
        return f"wrapper_CUDA_{base}{out}{overload}"
    return f"wrapper_CUDA_{schema.overload_name}_{base}{out}"


def _is_out(argument):
    return argument.kwarg_only and _is_written(argument)


def _is_written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def _arguments(schema, args, kwargs):
    """The tensors of a call, as (argument, tensor, device). `out` arguments come first, as in
    PyTorch's check. Tensors whose device is a guess are left out."""
    found = []
    for position, argument in enumerate(schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        items = value if isinstance(value, (list, tuple)) else (value,)
        for item in items:
            if isinstance(item, torch.Tensor):
                tag = tags.get(item)
                if tag.__class__ is not Guess:
                    found.append((argument, item, tag or CPU))
    return sorted(found, key=lambda one: not _is_out(one[0]))


# --- the rules -----------------------------------------------------------------------------


# C++ code of these functions moves an argument to the device of another argument, which does not
# work here.
_MOVING = frozenset(("ctc_loss", "tensor_split"))


def moves(caller):
    """Whether this function moves arguments to the device of another argument."""
    return getattr(caller, "__name__", None) in _MOVING


def judge(func, args, kwargs, call):
    """The device of the results of an operation on several devices. Raises CUDA's error if CUDA
    rejects this mix."""
    schema = func._schema
    base, operation = _operation(schema)
    found = _arguments(schema, args, kwargs)
    gpu = next((device for _, _, device in found if device != CPU), None)
    written = next((device for argument, _, device in found if _is_written(argument)), None)
    caller = getattr(call, "__name__", None)
    if moves(call):
        return gpu
    if caller in ("__getitem__", "__setitem__"):
        # An index on the CPU is moved to the device of the tensor, whichever operation follows.
        _indexed(found, caller == "__setitem__")
        found = [one for one in found if one[0].name not in _INDICES]
        if len({device for _, _, device in found}) == 1:
            return found[0][2]
    if base in _FREE:
        return written or found[0][2]
    if base.startswith(("_foreach_", "_fused_", "_amp_")):
        _lists(args)
        return gpu
    if base in ("index", "_unsafe_index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put"):
        return _indexed(found, "index_put" in base)
    if "scaled_dot_product" in base:
        _attention(found)
    if base in ("masked_fill", "masked_fill_", "masked_fill__"):
        return _masked(found)
    if base == "index_fill" or base == "index_fill_":
        found = [one for one in found if not (one[0].name == "value" and one[1].ndim == 0)]
        if len({device for _, _, device in found}) == 1:
            return found[0][2]
    if base in ("convolution", "_convolution", "mkldnn_convolution"):
        _convolution(found)
    if base in ("where", "where_"):
        return _where(found)
    full = _NO_SCALARS.get(base.removesuffix("_"), ())
    if any(device == CPU and argument.name in full for argument, _, device in found):
        return _one_device(found)
    if operation is None or not schema.name.startswith("aten::"):
        if schema.name.partition("::")[0] not in ("aten", "torchvision"):
            return gpu
        return _one_device(found)
    if operation.checks_nothing:
        return _iterated(found)
    if base in _ON_CUDA:
        method, names = _ON_CUDA[base]
        return _checked(found, method, lambda name: names.get(name, name))
    if not operation.on_cuda:
        # The operation is composed of others, most of which accept scalars on the CPU.
        return _iterated(found)
    return _checked(found, _wrapper(schema, base, operation), str)


def two_devices(a, b):
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {a} and {b}!"
    )


def _one_device(found):
    first = found[0][2]
    for _, _, device in found:
        if device != first:
            pair = (first, device) if first != CPU else (device, first)
            raise two_devices(*pair)
    return first


def _iterated(found):
    """The rule of TensorIterator: scalars on the CPU are accepted, except as results; but only one
    scalar if there are more than two tensors."""
    common = next(device for _, _, device in found if device != CPU)
    scalars = 0
    for argument, tensor, device in found:
        if device == CPU and tensor.ndim == 0 and not _is_written(argument):
            scalars += 1
            if scalars > 1 and len(found) > 2:
                raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
        elif device != common:
            raise two_devices(common, device)
    return common


def _checked(found, method, named):
    """The check that PyTorch generates around a kernel."""
    common = found[0][2]
    for argument, _, device in found:
        if device == common:
            continue
        name = named(argument.name)
        if _is_newer(2, 8):
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but got {name} is on {device}, different "
                f"from other tensors on {common} (when checking argument in method {method})"
            )
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {common} and "
            f"{device}! (when checking argument for argument {name} in method {method})"
        )
    return common


_INDICES = ("index", "indices", "mask")


def _indexed(found, writes):
    """The rule of indices. A write moves all of them to the device of the tensor (seen on a GPU)."""
    _, _, own = found[0]
    for argument, tensor, device in found[1:]:
        if argument.name in _INDICES and device not in (CPU, own) and not writes:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({own})"
            )
        if argument.name in ("values", "value") and device != own and (device != CPU or tensor.numel() != 1):
            raise two_devices(*((own, device) if own != CPU else (device, own)))
    return own


def _masked(found):
    _, _, own = found[0]
    for argument, tensor, device in found[1:]:
        if argument.name == "mask" and device != own:
            raise RuntimeError(
                f"expected self and mask to be on the same device, but got mask on {device} and self on {own}"
            )
        if argument.name == "value" and device != own and (device != CPU or tensor.ndim):
            raise two_devices(*((own, device) if own != CPU else (device, own)))
    return own


def _where(found):
    full = [device for _, tensor, device in found if tensor.ndim > 0]
    if len(set(full)) > 1:
        gpu = next(device for device in full if device != CPU)
        raise two_devices(gpu, next(device for device in full if device != gpu))
    gpu = next(device for _, _, device in found if device != CPU)
    if full and full[0] == CPU:
        raise two_devices(gpu, CPU)
    return gpu


def _convolution(found):
    given = {argument.name: (tensor, device) for argument, tensor, device in found}
    (x, at), (weight, of_weight) = given["input"], given["weight"]
    if at != CPU:
        for name in ("weight", "bias"):
            tensor, device = given.get(name, (None, at))
            if device != at:
                raise RuntimeError(
                    f"Input type ({type_name(x)}) and {name} type ({type_name(tensor)}) should be the same"
                )
    elif of_weight != CPU:
        kernel = (
            "wrapper_CUDA___slow_conv2d_forward" if weight.ndim < 5 else "wrapper_CUDA__slow_conv3d_forward"
        )
        _checked([one for one in found if one[0].name in ("input", "weight")], kernel, str)


def _attention(found):
    given = {argument.name: device for argument, _, device in found}
    devices = [given.get(name) for name in ("query", "key", "value")]
    if None not in devices and len(set(devices)) > 1:
        q, k, v = devices
        raise RuntimeError(
            "Expected query, key, and value to have the same device type, but got query.device: "
            f"{q} key.device: {k} and value.device: {v} instead."
        )


def _lists(args):
    """Checks the lists of a `_foreach_` operation, as optimizers call it: the tensors at the same index
    of the lists must be on one device, except scalars."""
    lists = [value for value in args if isinstance(value, (list, tuple)) and value]
    for row in zip(*(one for one in lists if isinstance(one[0], torch.Tensor))):
        devices = {tags.device_of(tensor) for tensor in row if tensor.ndim > 0}
        if len(devices) > 1:
            gpu = next(device for device in devices if device != CPU)
            raise two_devices(gpu, next(device for device in devices if device != gpu))


# --- where the devices alone do not decide -------------------------------------------------


def before(func, args, kwargs):
    """Rejects calls that CUDA rejects even if all tensors are on one device."""
    if func is torch.ops.aten._pack_padded_sequence.default:
        lengths = args[1]
        if tags.get(lengths) is not None:
            name = _TYPE_NAMES.get(lengths.dtype, str(lengths.dtype))
            raise RuntimeError(
                "'lengths' argument should be a 1D CPU int64 tensor, but got "
                f"{lengths.ndim}D {tags.device_of(lengths)} {name} tensor"
            )


def before_call(func, args):
    """PyTorch's checks of a whole recurrent layer, which the CPU splits into other operations."""
    if func not in _RNNS:
        return
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    lists = [value for value in args if isinstance(value, (list, tuple)) and value]
    at = tags.device_of(tensors[0])
    weights = lists[-1]
    hidden = lists[0] if len(lists) > 1 else tensors[-1:]
    for kind, group in (("hidden", hidden), ("parameter", weights)):
        for tensor in group:
            if isinstance(tensor, torch.Tensor) and tags.device_of(tensor) != at:
                raise RuntimeError(
                    f"Input and {kind} tensors are not at the same device, found input tensor at {at} and "
                    f"{kind} tensor at {tags.device_of(tensor)}"
                )


def after(func, args, result, target, aliases):
    """Gives new results their device. The lengths that belong to packed sequences are always on
    the CPU."""
    if isinstance(result, torch.Tensor):
        _place(result, target, aliases)
        return
    if not isinstance(result, (list, tuple)):
        return
    if func is torch.ops.aten._pack_padded_sequence.default:
        result = result[:1]
    of_each = None
    if target.__class__ is not Guess and func._schema.name.startswith("aten::_foreach_"):
        of_each = args[0]
    for position, item in enumerate(result):
        if isinstance(item, torch.Tensor):
            place = tags.get(of_each[position]) if of_each is not None else target
            _place(item, place, aliases)
        elif isinstance(item, (list, tuple)):
            for one in item:
                if isinstance(one, torch.Tensor):
                    _place(one, target, aliases)


def _place(tensor, target, aliases):
    if target is not None and (not aliases or tags.key(tensor) not in aliases):
        tags.put_if_new(tensor, target)
