"""The dynamic half of the contract language: a page's contract over real tensors.

A contract is plain Python. `load` compiles the `## Contract` block of a page, and makes a `Contract`
of each function in the block. `Contract.judge` runs this function on the arguments of a call, and
returns the finding, if there is one. If something cannot be evaluated (an argument that was not
passed, a list where a tensor is expected), the result is unknown, and nothing is reported or raised.

A contract may call only the helpers below, `len` and a few tensor methods. The checker evaluates
helpers of the same names over facts; CONTRIBUTING.md describes them for authors of pages.
"""

import ast
import contextlib
import inspect
import math
import threading

import torch


class Finding(Exception):
    """The finding of a contract: `severity` is "error", "warning" or "info". If values are wrong,
    `offence` is a pair: their tensor, and a function that returns the mask of the wrong values for
    the flattened tensor. `guessed` is true if the contract has asked for a role that was determined
    only by values."""

    def __init__(self, severity, message):
        super().__init__(message)
        self.severity = severity
        self.message = message
        self.offence = _seen.offence
        self.guessed = _seen.guessed


class _Seen(threading.local):
    """What the helpers have recorded during the current contract."""

    offence = None
    guessed = False
    # A cache for one call, because several contracts need the same facts about a tensor.
    told = None


_seen = _Seen()


class one_call:
    """A block in which tensors do not change, so that facts about them are computed only once."""

    def __enter__(self):
        _seen.told = {}

    def __exit__(self, *_):
        _seen.told = None


# --- statements: the first one that fails ends the contract --------------------------------


def require(condition, message, raises=True):
    """The call fails, or is certainly wrong, unless `condition` holds."""
    if not condition:
        raise Finding("error", message())


def suspect(condition, message):
    """The call is very likely wrong unless `condition` holds."""
    if not condition:
        raise Finding("warning", message())


def advise(condition, message):
    """The call is right, but there is a better way unless `condition` holds."""
    if not condition:
        raise Finding("info", message())


# --- values --------------------------------------------------------------------------------


def _kept(t, ignoring):
    flat = t.detach().reshape(-1)
    if ignoring is None or flat.dtype == torch.bool or not _fits(ignoring, flat.dtype):
        return flat
    return flat[flat != ignoring]


def _fits(number, dtype):
    """Whether a dtype can represent a number. If not, comparing a tensor of this dtype with the
    number raises, or wraps the number around."""
    if dtype.is_floating_point:
        return True
    return torch.iinfo(dtype).min <= number <= torch.iinfo(dtype).max


_UNORDERED = tuple(getattr(torch, name, torch.bool) for name in ("bool", "uint16", "uint32", "uint64"))


def _strays(t, lo, hi, ignoring=None):
    """The sorted distinct values of `t` outside [lo, hi), except `ignoring`, as Python numbers."""
    key = (id(t), lo, hi, ignoring)
    if _seen.told is not None and key in _seen.told:
        strays = _seen.told[key]
    else:
        strays = _find_strays(t, lo, hi, ignoring)
        if _seen.told is not None:
            _seen.told[key] = strays
    if strays:

        def marks(flat):
            stray = ~((flat >= lo) & (flat < hi))
            kept = ignoring is not None and _fits(ignoring, flat.dtype)
            return stray & (flat != ignoring) if kept else stray

        _seen.offence = (t, marks)
    return strays


def _find_strays(t, lo, hi, ignoring):
    flat = t.detach().reshape(-1)
    if flat.dtype in _UNORDERED:
        flat = flat.to(torch.int64)
    # A fast first test, because most calls are right: one pass computes minimum and maximum.
    if flat.numel() > 0 and not flat.is_complex():
        least, greatest = torch.stack(torch.aminmax(flat)).tolist()
        if lo <= least and greatest < hi:
            return []
    kept = _kept(flat, ignoring)
    return torch.unique(kept[~((kept >= lo) & (kept < hi))]).tolist()


def within(t, lo, hi, ignoring=None):
    """Whether every value of `t`, except those equal to `ignoring`, is in [lo, hi)."""
    return not _strays(t, lo, hi, ignoring)


def stray(t, lo, hi, ignoring=None):
    """The only distinct value of `t` outside [lo, hi), except `ignoring`; None if there is none or
    more than one."""
    strays = _strays(t, lo, hi, ignoring)
    return strays[0] if len(strays) == 1 else None


def outside(t, lo, hi, ignoring=None):
    """The values of `t` outside [lo, hi), except `ignoring`, as text: `10`, `-1 and 12`,
    `26 to 61`."""
    strays = _strays(t, lo, hi, ignoring)
    if len(strays) > 2:
        return f"{strays[0]:g} to {strays[-1]:g}"
    return " and ".join(f"{stray:g}" for stray in strays)


def between(t, lo, hi):
    """Whether every value of `t` is in [lo, hi], bounds included. None means no bound, and
    NaN is never inside."""
    flat = t.detach().reshape(-1)

    def marks(flat):
        good = ~torch.isnan(flat)
        if lo is not None:
            good = good & (flat >= lo)
        if hi is not None:
            good = good & (flat <= hi)
        return ~good

    if not bool(marks(flat).any()):
        return True
    _seen.offence = (t, marks)
    return False


def finite(t):
    """Whether no value of `t` is infinite or NaN."""
    if bool(torch.isfinite(t.detach()).all()):
        return True
    _seen.offence = (t, lambda flat: ~torch.isfinite(flat))
    return False


def values(t):
    """The values of `t` as text: `3`, `0 and 1`, `-2.5 to 3.1`."""
    flat = t.detach().reshape(-1)
    if flat.numel() == 0:
        return "no values"
    if flat.dtype == torch.bool:
        flat = flat.to(torch.uint8)
    low, high = flat.min().item(), flat.max().item()
    if low == high or math.isnan(low):
        return f"{low:.4g}"
    joint = "and" if bool(((flat == low) | (flat == high)).all()) else "to"
    return f"{low:.4g} {joint} {high:.4g}"


def total(t):
    """The sum of all values of `t`."""
    return t.detach().sum().item()


def misplaced(x, index):
    """What is wrong with the index tensors of `x[index]`, as text, or None. An index into a
    dimension of size n must be in [-n, n)."""
    items = index if isinstance(index, tuple) else (index,)
    takes = [_dimensions_taken(item) for item in items]
    axis = 0
    for item, count in zip(items, takes):
        if item is Ellipsis:
            axis += x.ndim - sum(takes)
        if isinstance(item, torch.Tensor) and item.dtype not in (torch.bool, torch.uint8):
            size = x.shape[axis]
            if not within(item, -size, size):
                return f"the index holds {outside(item, -size, size)}, but dimension {axis} has size {size}"
        axis += count
    return None


def _dimensions_taken(item):
    """The number of dimensions that an item of an index selects from."""
    if isinstance(item, torch.Tensor) and item.dtype in (torch.bool, torch.uint8):
        return item.ndim
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


# --- kinds ---------------------------------------------------------------------------------


def known(condition):
    """Whether a condition is decided: always true for real tensors. In the checker, an
    `if` with an undecided condition would end the evaluation of the contract."""
    return True


def is_tensor(x):
    """Whether `x` is a tensor."""
    return isinstance(x, torch.Tensor)


def integral(dtype):
    """Whether a dtype is an integer type. `torch.bool` is not."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)


def floating(dtype):
    """Whether a dtype is a real floating type."""
    return dtype.is_floating_point


def dtype_name(dtype):
    """`int64` for `torch.int64`."""
    return str(dtype).removeprefix("torch.")


def same_device(*tensors):
    """Whether the tensors are on one device. Arguments that are not tensors are ignored."""
    return len({t.device for t in tensors if isinstance(t, torch.Tensor)}) <= 1


# --- shapes --------------------------------------------------------------------------------


def broadcastable(a, b):
    """Whether two shapes broadcast."""
    return all(m == n or m == 1 or n == 1 for m, n in zip(reversed(a), reversed(b)))


def broadcast(a, b):
    """The shape to which two shapes broadcast."""
    return tuple(torch.broadcast_shapes(a, b))


# --- roles ---------------------------------------------------------------------------------

_SHAPING = ("View", "Unsqueeze", "Squeeze", "Permute", "Transpose", "TBackward", "Alias")
_SHAPING += ("Select", "Slice", "Clone", "ToCopy", "Expand", "Unsafe")
_MAKERS = {
    "SoftmaxBackward0": "probabilities",
    "SigmoidBackward0": "probabilities",
    "LogSoftmaxBackward0": "log-probabilities",
    "LogSigmoidBackward0": "log-probabilities",
    "AddmmBackward0": "logits",
    "LinearBackward0": "logits",
    "ConvolutionBackward0": "logits",
}


def _maker(t):
    """The role that `t` has because of the operation that created it; changes of shape keep it."""
    node = t.grad_fn
    for _ in range(16):
        if node is None:
            return None
        name = node.name()
        if name in _MAKERS:
            return _MAKERS[name]
        if not name.startswith(_SHAPING) or not node.next_functions:
            return None
        node = node.next_functions[0][0]
    return None


def _is_class_mask(t):
    """Whether a tensor seems to contain a class id per pixel: few distinct integers. Bytes may be an
    image, and a floating tensor with two values may be a soft binary mask, so neither is taken for a
    class mask."""
    if t.ndim < 2 or t.dtype in (torch.bool, torch.uint8) or t.is_complex():
        return False
    if not t.dtype.is_floating_point:
        return torch.unique(t).numel() <= 256
    if t.ndim < 3 or t.shape[-3] != 1 or not bool((t == t.round()).all()):
        return False
    return 2 < torch.unique(t).numel() <= 64


def _of_classes(t):
    """The role of a tensor whose dimension 1 (or only dimension) is the class dimension."""
    dim = 1 if t.ndim > 1 else 0
    if t.shape[dim] < 2 or t.is_complex():
        return None
    # A fast first test: if the first sample has no role, the batch has none. This test is enough for
    # most tensors.
    if t.ndim > 1 and t.shape[0] > 1 and _of_classes(t[:1]) is None:
        return None
    wide = t.to(torch.float64)
    if bool(((wide >= 0) & (wide <= 1)).all()):
        if bool(((wide.sum(dim) - 1).abs() < 1e-3).all()):
            return "one-hot" if bool(((wide == 0) | (wide == 1)).all()) else "probabilities"
    elif bool((wide <= 0).all()) and bool(((wide.exp().sum(dim) - 1).abs() < 1e-3).all()):
        return "log-probabilities"
    return None


def _of_values(t):
    if t.numel() == 0 or t.ndim == 0:
        return None
    return _of_classes(t) or ("class-mask" if _is_class_mask(t) else None)


def role(x):
    """The meaning of the values, if it can be determined: "logits", "probabilities",
    "log-probabilities", "one-hot", "class-mask", "image", or None.

    The mode of a Pillow image determines its role. A NumPy array is a "class-mask" if it is
    two-dimensional and has integers wider than a byte. The role of a tensor is determined by the
    operation that created it, if autograd recorded this operation and the operation is a linear layer,
    a convolution or an activation such as softmax. Otherwise, the values of the tensor determine it:
    "probabilities" if they are in [0, 1] and sum to 1 over the class dimension, "log-probabilities" if
    their exponentials do, "one-hot" if there is a single 1 among zeros, "class-mask" if there are few
    distinct integers.
    """
    mode = getattr(x, "mode", None)
    if mode is not None and hasattr(x, "getbands"):
        return "class-mask" if mode == "P" else "image" if mode in ("RGB", "RGBA") else None
    if type(x).__module__ == "numpy" and hasattr(x, "__array__"):
        if x.ndim == 2 and x.dtype.kind in "iu" and x.dtype.itemsize > 1:
            _seen.guessed = True
            return "class-mask"
        return None
    if not isinstance(x, torch.Tensor):
        return None
    return _maker(x) or _guess(x)


def _guess(x):
    role = _of_values(x.detach())
    _seen.guessed = _seen.guessed or role is not None
    return role


def palette(x):
    """Whether `x` is a Pillow image of mode "1" or "P", which Pillow always resizes with
    nearest neighbour."""
    return hasattr(x, "getbands") and x.mode in ("1", "P")


def tv_mask(x):
    """Whether `x` is a `torchvision.tv_tensors.Mask`, which the v2 transforms always resize with
    nearest neighbour."""
    return any(kind.__name__ == "Mask" and "tv_tensors" in kind.__module__ for kind in type(x).__mro__)


def nearest(mode):
    """Whether an interpolation argument of torch, torchvision, Pillow or OpenCV selects nearest
    neighbour. (0 is nearest in Pillow and in OpenCV, 6 is OpenCV's INTER_NEAREST_EXACT.)"""
    return getattr(mode, "value", mode) in (0, 6, "nearest", "nearest-exact")


# --- history and modes ---------------------------------------------------------------------


def interpolated(t):
    """Whether the integers of `t` come from an interpolation other than nearest neighbour. The
    tensor does not show this: only the checker knows."""
    return False


def scaled(t):
    """Whether the integers of `t` come from bytes divided by 255. Only the checker knows."""
    return False


def recoloured(t):
    """Whether the integers of `t` are colours that replaced palette indices. Only the checker
    knows."""
    return False


def vocabulary(t):
    """The number of tokens of the tokenizer that created the ids `t`, if tokens were added to it.
    Only the checker knows."""


def autocast(t):
    """Whether autocast is enabled here for the device of `t`."""
    try:
        return torch.is_autocast_enabled(t.device.type)
    except TypeError:  # before PyTorch 2.4 there was one function for each device
        return torch.is_autocast_enabled() if t.is_cuda else torch.is_autocast_cpu_enabled()


HELPERS = (
    [require, suspect, advise, known, within, stray, outside, between, finite, values, total]
    + [misplaced, is_tensor, integral, floating, dtype_name, same_device, broadcastable, broadcast, role, palette]
    + [tv_mask, nearest, interpolated, scaled, recoloured, vocabulary, autocast]
)


# --- contracts -----------------------------------------------------------------------------


def _shown(value):
    """A value in a message: `[4, 3]` for a shape, `int64` for a dtype."""
    if isinstance(value, tuple):
        return str(list(value))
    return dtype_name(value) if isinstance(value, torch.dtype) else value


class _Lazy(ast.NodeTransformer):
    """Turns the message of a statement into a function: most messages are never needed, and
    printing the values of a tensor requires a synchronisation."""

    def visit_FormattedValue(self, node):
        self.generic_visit(node)
        node.value = ast.Call(ast.Name("_shown", ast.Load()), [node.value], [])
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        reports = ("require", "suspect", "advise")
        if getattr(node.func, "id", None) in reports and len(node.args) == 2:
            empty = ast.parse("lambda: 0", mode="eval").body
            empty.body = node.args[1]
            node.args[1] = ast.copy_location(empty, node.args[1])
        return node


class Contract:
    """One function of a page's contract."""

    def __init__(self, function):
        self.name = function.__name__
        self._function = function
        self.parameters = inspect.signature(function).parameters

    def judge(self, arguments):
        """The `Finding` for a call with these arguments (by name), or None."""
        return self.decide(arguments)[0]

    def decide(self, arguments):
        """Like `judge`, but also returns whether the contract could be evaluated."""
        with contextlib.suppress(Exception):  # unknown: see the docstring of the module
            return self.check(arguments), True
        return None, False

    def check(self, arguments):
        """Like `judge`, but raises if the contract cannot be evaluated."""
        known = {name: arguments[name] for name in self.parameters if name in arguments}
        _seen.offence, _seen.guessed = None, False
        try:
            with torch.no_grad():
                self._function(**known)
        except Finding as finding:
            return finding
        finally:
            _seen.offence = None
        return None


def load(source, contract_of, filename="<contract>", line=1):
    """The contracts of a page, by the dotted path of the function that they check.

    A function under `@of("a.b", …)` checks the calls of these paths; a function without it checks
    the calls of all paths in `contract_of`.
    """
    tree = ast.increment_lineno(ast.parse(source, filename), line - 1)
    tree = ast.fix_missing_locations(_Lazy().visit(tree))
    judges = {path: [] for path in contract_of}

    def of(*paths):
        def mark(function):
            function.paths = paths
            return function

        return mark

    names = {helper.__name__: helper for helper in HELPERS}
    names.update(torch=torch, of=of, _shown=_shown)
    defined = {}
    exec(compile(tree, filename, "exec"), names, defined)  # noqa: S102
    for function in defined.values():
        for path in getattr(function, "paths", contract_of):
            if path not in judges:
                raise ValueError(f"{filename}: {path} is not in contract-of")
            judges[path].append(Contract(function))
    unjudged = [path for path, contracts in judges.items() if not contracts]
    if unjudged:
        raise ValueError(f"{filename}: no contract for {', '.join(unjudged)}")
    return judges
