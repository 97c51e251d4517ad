"""Lists the kinds of values that parameters of PyTorch and torchvision reject: all of a class, the first of a function.

    python tests/conformance/kinds.py > list.txt                                  # once for each older version
    python tests/conformance/kinds.py --with list.txt > src/library/data/kinds.txt
    python tests/conformance/kinds.py --check src/library/data/kinds.txt

A line is the function or class, the parameter, a colon, and the kinds that the call itself rejects. After `|` are
the kinds that the call may accept, but that the first use of its result rejects: a layer is called, an optimizer makes
a step, a loader is iterated over.

The samples of PyTorch's own databases, and those below, are calls that work. A kind is listed if each of them raises
an exception once the argument is replaced by any value of this kind.
"""

import argparse
import ast
import collections
import dataclasses
import inspect
import io
import os
import pathlib
import random
import re
import sys
import tempfile
import warnings

import numpy as np
import PIL.Image
import torch
import torchvision

SIGNATURES = pathlib.Path(__file__).resolve().parent.parent.parent / "src/library/signatures.txt"
SAMPLES = 16  # the largest number for each function
CLASS_SAMPLES = 8  # and for each class, whose calls are slower

# --- kinds ---------------------------------------------------------------------------------

TEXTS = (
    "a mean none sum same valid zeros constant reflect cpu meta relu tanh gelu nearest bilinear floor trunc linear "
    "min max fro nuc inf 1 0.5"
).split()
NUMBERS = (-1, 0, 1, 2, 3, 4, 0.0, 0.5, 1.0, 2.0, -1.0)


class Plain(torch.nn.Module):
    """A module whose output is its input, whatever it is."""

    def forward(self, *args, **kwargs):
        return args[0]


def same(*args, **kwargs):
    return args[0] if args else None


def nothing(*args, **kwargs):
    return None


# The contents of lists and tuples.
CONTENTS = (
    *([], [-1], [0], [1], [0, 1], [1, 2], [2, 2], [1, 2, 3], [1, 1, 1], [2, 2, 2, 2], [[1, 2], [3, 4]]),
    *([(0, 1), (1, 0)], [0.5], [1.0], [0.5, 0.5], [1.0, 2.0], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0, 4.0]),
    *([[1.0, 2.0], [3.0, 4.0]], [True], [True, False], [None], [None, 1], ["a"], ["a", "b"], [same], [same, same]),
)


def kind_of(value):
    """The name of the kind, or `None` for other values."""
    if isinstance(value, (list, tuple)):
        for kind, of in (("tensors", torch.Tensor), ("modules", torch.nn.Module)):
            if value and all(isinstance(item, of) for item in value):
                return kind
        return "list" if isinstance(value, list) else "tuple"
    if isinstance(value, torch.nn.Module):
        # Containers can be iterated over, so they may be accepted in place of a list.
        return "container" if hasattr(value, "__iter__") else "module"
    for kind, types in {
        "none": type(None),
        "bool": bool,
        "int": int,
        "float": float,
        "text": str,
        "tensor": torch.Tensor,
        "array": np.ndarray,
        "dict": dict,
        "set": set,
        "dtype": torch.dtype,
        "device": torch.device,
        "iterator": collections.abc.Iterator,
    }.items():
        if isinstance(value, types):
            return kind
    return "function" if callable(value) and not isinstance(value, type) else None


def constants():
    """Values of all kinds. They are created for each use, because calls can change some of them or use them up. There
    are several of each kind: if all are rejected, the reason is the kind. Sizes are small, so that every call is fast.
    """
    linear, plain = torch.nn.Linear(2, 2), Plain()
    yield from (None, True, False, *NUMBERS, *TEXTS)
    yield from (list(content) for content in CONTENTS)
    yield from (tuple(content) for content in CONTENTS)
    yield from (torch.tensor(number) for number in (True, 0, 1, 2, -1, 0.5, 1.0))
    yield from (torch.ones(2), torch.ones(1), torch.ones(2, 2), torch.ones(2, 2, 2), torch.ones(1, 2, 2, 2))
    yield from (torch.zeros(2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.int64))
    yield from (torch.ones(size, dtype=torch.int64) for size in (1, 2, 3, 4))
    yield from (torch.ones(2, dtype=torch.bool), torch.ones(2, 2, dtype=torch.bool))
    yield from ([torch.ones(2, 2), torch.ones(2, 2)], (torch.ones(2), torch.ones(2)), [torch.ones(2)])
    yield from ([torch.tensor(1), torch.tensor(2)], (torch.tensor(0.5),), (torch.ones(2), torch.tensor([0, 1])))
    yield [torch.tensor([0, 1])]
    yield from ({"a": 1.0}, {"a": torch.ones(2, 2)}, {0: 1.0, 1: 2.0}, {"a": linear}, {"cpu": "cpu"})
    yield from ({"params": [torch.ones(2)]}, collections.OrderedDict(a=linear))
    yield from ({1, 2}, {0}, {0.5, 1.0}, {"a"}, {(0, 1)})
    yield from (iter([1, 2]), iter([0]), iter([0.5, 0.5]), map(torch.ones, [2, 2]), linear.parameters())
    yield from (iter([linear]), iter([[0, 1]]), zip("a", [linear]), (value for value in [torch.ones(2)]))
    yield from (np.ones((2, 2), dtype=np.float32), np.ones(2), np.array([1, 2]), np.array([1]), np.array([0, 1]))
    yield from (np.array([True, False]), np.ones((2, 2), dtype=np.int64), np.ones((2, 2, 3), dtype=np.uint8))
    yield from (plain, torch.nn.Identity(), torch.nn.ReLU(), linear)
    yield from (torch.nn.Sequential(linear), torch.nn.ModuleList([linear]), torch.nn.ModuleDict({"a": linear}))
    yield from (torch.nn.Sequential(plain), torch.nn.ModuleList([plain]))
    yield from (torch.nn.ParameterList([torch.ones(2)]), torch.nn.ParameterDict({"a": torch.ones(2)}))
    yield from ([linear], (linear, torch.nn.ReLU()), [torch.nn.ReLU(), linear], [plain], [plain, plain])
    yield from (nothing, same, lambda *args, **kwargs: 0.5, torch.relu)
    yield from (torch.float32, torch.float64, torch.int64, torch.bool, torch.device("cpu"), torch.device("meta"))


def variants(value):
    """An argument of a sample, and its contents converted to other kinds. Otherwise, a list, for example, might be
    rejected only because of its length.
    """
    yield value
    if isinstance(value, (bool, int, float)):
        yield from (float(value), torch.tensor(value), torch.tensor(float(value)), np.array([value]), str(value))
        if value == value // 1:
            yield from (int(value), torch.tensor(int(value)))
    elif isinstance(value, torch.Tensor):
        value = value.detach().clone()
        yield from (value, value.float(), value.bool(), value.long(), [value], (value, value), iter([value]))
        yield from ({"a": value}, list(value.shape), tuple(value.shape), value.tolist())
        if value.layout is torch.strided and not value.is_quantized and value.dtype is not torch.bfloat16:
            yield value.resolve_conj().resolve_neg().numpy()
        return
    elif isinstance(value, torch.nn.Module):
        yield from (list(value.parameters()), {"a": value}, collections.OrderedDict(a=value), value.forward)
    elif isinstance(value, dict):
        yield from (list(value), list(value.values()), list(value.items()), iter(value.items()))
    elif isinstance(value, (list, tuple, set, collections.abc.Iterator)):
        yield from sequences(list(value))
        return
    if value is not None:
        yield from ([value], [value] * 2, (value,), (value,) * 2, (value,) * 3, iter([value]))
        if isinstance(value, collections.abc.Hashable):
            yield {value}


def sequences(items):
    yield from (list(items), tuple(items), iter(items), *items[:1])
    yield from (dict(enumerate(items)), {str(index): item for index, item in enumerate(items)})
    if all(isinstance(item, collections.abc.Hashable) for item in items):
        yield set(items)
    if items and all(isinstance(item, torch.nn.Parameter) for item in items):
        yield torch.nn.ParameterList(items)
    if items and all(isinstance(item, (bool, int, float)) for item in items):
        yield from (torch.tensor(items), np.array(items), [float(item) for item in items], tuple(map(float, items)))
        yield [torch.tensor(item) for item in items]


def sizes(args, kwargs):
    """Tensors, numbers and lists with the sizes of the first three tensors among a sample's arguments."""
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
    for tensor in tensors[:3]:
        yield from (tensor.detach().clone(), torch.ones(tensor.shape), torch.ones(tensor.shape, dtype=torch.bool))
        yield from (torch.zeros(tensor.shape, dtype=torch.int64), list(tensor.shape), tuple(tensor.shape))
    for size in sorted({size for tensor in tensors[:3] for size in tensor.shape}):
        yield from (size, torch.ones(size), torch.zeros(size, dtype=torch.int64), torch.ones(size, dtype=torch.bool))


def words(function):
    """Further words that a function may accept: those quoted in its documentation and source."""
    text = function.__doc__ or ""
    try:
        text += inspect.getsource(function)
    except (OSError, TypeError):
        pass  # native functions have no source
    found = dict.fromkeys(re.findall(r"""['"`]([A-Za-z_][\w-]{0,24})['"`]""", text))
    return [word for word in found if word not in TEXTS and not MACHINE.search(word)][:40]


# --- signatures ----------------------------------------------------------------------------


@dataclasses.dataclass
class Signature:
    """What the overloads of a function agree on."""

    names: list  # by position; `None` for positions at which overloads differ
    rest: str | None  # the name of `*args`, which follow `names`
    defaults: dict  # of the parameters; `...` if unknown

    def name_at(self, index):
        return self.names[index] if index < len(self.names) else self.rest


def merged(overloads):
    """What overloads agree on. Each is given as its names by position, the name of its `*args`, and its defaults."""
    rest = next(((len(names), rest) for names, rest, _ in overloads if rest), (None, None))
    names, different = [], set()
    for index in range(max(len(names) for names, *_ in overloads) if rest[0] is None else rest[0]):
        found = {names[index] for names, *_ in overloads if index < len(names)}
        names.append(next(iter(found)) if len(found) == 1 else None)
        if len(found) > 1:
            different |= found
    defaults = {}
    for positional, _, own in overloads:
        different |= set(positional[len(names) :]) - {rest[1]}
        for name, default in own.items():
            defaults.setdefault(name, default)
    return Signature(
        names=[None if name in different else name for name in names],
        rest=rest[1],
        defaults={name: default for name, default in defaults.items() if name not in different},
    )


def listed_overload(text):
    args = ast.parse(f"lambda {text}: 0", mode="eval").body.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    pairs = [
        *zip(names[len(names) - len(args.defaults) :], args.defaults),
        *((arg.arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults) if default is not None),
    ]
    return names, args.vararg and args.vararg.arg, {name: ast.literal_eval(default) for name, default in pairs}


def inspected_overload(function):
    parameters = inspect.signature(function).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return (
        [parameter.name for parameter in parameters if parameter.kind in positional],
        next((parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL), None),
        {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty},
    )


def signatures():
    """The text of the parameters of each overload, by path."""
    found = {}
    for line in SIGNATURES.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"([\w.]+)\((.*)\)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


# --- the experiment ------------------------------------------------------------------------


@dataclasses.dataclass
class Sample:
    """A call that works. `make` returns new arguments. `use` is called with the result."""

    make: collections.abc.Callable
    use: collections.abc.Callable | None = None


REJECTIONS = (
    TypeError,
    ValueError,
    RuntimeError,
    AttributeError,
    IndexError,
    NotImplementedError,
    KeyError,
    AssertionError,
)
# Matches the message of an error that occurs only because this machine has no GPU.
MACHINE = re.compile(r"cuda|nvidia|gpu|\bmps\b|accelerator|not compiled|pin_memory allocator", re.IGNORECASE)


def rejects(error):
    machine = not isinstance(error, TypeError) and MACHINE.search(str(error))
    return isinstance(error, REJECTIONS) and not machine


def failure(function, args, kwargs, use):
    """The exception of a call, and whether only the use of the result raised it; `None` for a call that works."""
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return error, False
    try:
        if use is not None:
            use(result)
    except Exception as error:
        return error, True
    return None


@dataclasses.dataclass
class Findings:
    """What the calls with one parameter replaced show about each kind."""

    tried: set = dataclasses.field(default_factory=set)
    accepted: set = dataclasses.field(default_factory=set)
    built: set = dataclasses.field(default_factory=set)  # only the use of the result rejects it
    proven: set = dataclasses.field(default_factory=set)  # `bool`, if it is rejected because of its kind

    def kinds(self):
        """The kinds that the call rejects, and those that the use of its result rejects."""
        # If no kind is accepted, this version may lack the parameter.
        rejected = self.tried - self.accepted if self.accepted else set()
        if "int" not in rejected:
            rejected -= {"bool"} - self.proven
        return rejected - self.built, rejected & self.built


def places(signature, args, kwargs):
    """The place of each parameter in a call: its position, or the keyword that passes it."""
    found = {}
    for index in range(len(args)):
        if name := signature.name_at(index):
            found.setdefault(name, index)
    unclear = {None, *found, *(signature.names[: len(args)])}
    return {**found, **{name: name for name in (*kwargs, *signature.defaults) if name not in unclear}}


def replaced(args, kwargs, place, value, alone=False):
    if isinstance(place, str):
        return args, {**kwargs, place: value}
    return (*args[:place], value, *(() if alone else args[place + 1 :])), kwargs


def candidates(name, value, args, kwargs, function):
    yield from constants()
    yield from variants(value)
    yield from sizes(args, kwargs)
    if name == "out":
        result = function(*args, **kwargs)
        yield from variants(tuple(result) if isinstance(result, tuple) else result)


def try_kinds(function, sample, place, name, found, texts, alone=False):
    """Replaces one argument of a working sample with values of each kind that no sample has accepted yet."""
    args, kwargs = sample.make()
    given = args[place] if isinstance(place, int) else kwargs.get(place)
    for value in (*texts, *candidates(name, given, args, kwargs, function)):
        kind = kind_of(value)
        if kind is None or kind in found.accepted:
            continue
        found.tried.add(kind)
        call = replaced(*sample.make(), place, value, alone)
        failed = failure(function, *call, sample.use)
        if failed is None or not rejects(failed[0]):
            found.accepted.add(kind)
            continue
        if failed[1]:
            found.built.add(kind)
        if kind == "bool":
            # A bool is an integer. If the equal `int` raises the same type of exception, only the value is wrong.
            number = failure(function, *replaced(*sample.make(), place, int(value), alone), sample.use)
            if number is None or type(number[0]) is not type(failed[0]):
                found.proven.add(kind)


def experiment(function, signature, samples, findings, only=None):
    """Adds what the samples show to `findings`, by parameter. `only` holds the names of the parameters to test."""
    texts = words(function)
    for sample in samples:
        if failure(function, *sample.make(), sample.use):
            continue
        args, kwargs = sample.make()
        for name, place in places(signature, args, kwargs).items():
            if only and name not in only:
                continue
            tested = sample
            value = args[place] if isinstance(place, int) else kwargs.get(place, signature.defaults.get(place))
            if isinstance(place, str) and place not in kwargs and value is not ...:
                # This also shows that this version has the parameter.
                tested = Sample(lambda: replaced(*sample.make(), place, value), sample.use)
                if failure(function, *tested.make(), tested.use):
                    continue
            found = findings.setdefault(name, Findings())
            if value is not ...:
                found.accepted.add(kind_of(value))
            try_kinds(function, tested, place, name, found, texts)
            if name == signature.rest and len(args) > place + 1:
                try_kinds(function, tested, place, name, found, texts, alone=True)


def selected(samples, signature, count):
    """At most `count` samples with different kinds of arguments, and the kinds in all samples by parameter."""
    distinct, kinds = {}, {}
    for sample in samples:
        args, kwargs = sample.make()
        key = []
        for name, place in places(signature, args, kwargs).items():
            if isinstance(place, str) and place not in kwargs:
                continue
            value = args[place] if isinstance(place, int) else kwargs[place]
            kinds.setdefault(name, set()).add(kind_of(value))
            items = tuple(map(kind_of, value)) if isinstance(value, (list, tuple)) else None
            key.append((name, kind_of(value), items, value if isinstance(value, (bool, str)) else None))
        distinct.setdefault(tuple(sorted(key, key=str)), sample)
    distinct = list(distinct.values())
    step = max(1, len(distinct) / count)
    return [distinct[int(i * step)] for i in range(min(count, len(distinct)))], kinds


# --- samples of PyTorch's databases --------------------------------------------------------


def resolved(path):
    value = sys.modules[path.split(".")[0]]
    for name in path.split(".")[1:]:
        value = getattr(value, name, None)
    return value


def operators(signature_of):
    """The functions of the operator database: path, function, samples. The variants of an operator, and the types
    of its input, are separate items.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        for name in (op.name, *(alias.name for alias in op.aliases)):
            path = name if name.startswith("torch.") else f"torch.{name}"
            function = resolved(path)
            if signature_of(path) is None or not callable(function):
                continue
            dtypes = [dtype for dtype in (torch.float32, torch.int64, torch.bool) if dtype in op.dtypes]
            for dtype in dtypes:
                samples = [
                    Sample(lambda sample=sample: ((sample.input, *sample.args), dict(sample.kwargs)))
                    for sample in op.sample_inputs("cpu", dtype)
                ]
                yield path, function, samples, SAMPLES if dtype is dtypes[0] else SAMPLES // 4


def layers(signature_of):
    """The layers and losses of the module database, which are called with the sample's inputs."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        path = f"torch.nn.{info.module_cls.__name__}"
        if signature_of(path) is None or resolved(path) is not info.module_cls:
            continue
        samples = []
        for training in (True, False):
            for item in info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            ):
                new, forward = item.constructor_input, item.forward_input
                samples.append(
                    Sample(
                        lambda new=new: (tuple(new.args), dict(new.kwargs)),
                        lambda module, forward=forward, training=training: module.train(training)(
                            *forward.args, **forward.kwargs
                        ),
                    )
                )
        yield path, info.module_cls, samples, CLASS_SAMPLES


def weights(sparse=False):
    """The parameters of a layer, with gradients."""
    found = list(torch.nn.Linear(2, 3).parameters())
    for parameter in found:
        parameter.grad = torch.ones_like(parameter).to_sparse() if sparse else torch.ones_like(parameter)
    return found


def optimizers(signature_of):
    """The optimizers of the database, and all others with their defaults. They make one step."""
    try:
        from torch.testing._internal.common_optimizers import optim_db
    except ImportError:
        optim_db = []  # PyTorch 2.1 has no such database
    inputs = {info.optim_cls: [item.kwargs for item in info.optim_inputs_func("cpu")] for info in optim_db}
    for cls in vars(torch.optim).values():
        if not inspect.isclass(cls) or cls is torch.optim.Optimizer:
            continue
        if signature_of(f"torch.optim.{cls.__name__}") is None:
            continue

        def parameters(cls=cls):
            found = weights(sparse=cls.__name__ == "SparseAdam")
            return found[:1] if cls.__name__ == "Muon" else found  # Muon takes only matrices

        forms = (lambda: iter(parameters()), parameters, lambda: [{"params": parameters()}])
        samples = [
            Sample(
                lambda kwargs=kwargs, form=form: ((form(),), dict(kwargs)),
                lambda optimizer: optimizer.step(lambda: torch.tensor(1.0)),
            )
            for form in forms
            for kwargs in [{}, {"lr": 0.1}, *(inputs.get(cls, ()) if form is forms[0] else ())]
        ]
        yield f"torch.optim.{cls.__name__}", cls, samples, 2 * CLASS_SAMPLES


# --- samples by hand -----------------------------------------------------------------------


def given(*args, **kwargs):
    return args, kwargs


def linear():
    return torch.nn.Linear(2, 2)


def dataset():
    return torch.utils.data.TensorDataset(torch.ones(4, 2))


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([1.0, 2.0])


def optimizer():
    return torch.optim.SGD(weights(), lr=0.1, momentum=0.9)


def saved():
    file = io.BytesIO()
    torch.save({"a": torch.ones(2)}, file)
    file.seek(0)
    return file


def packed():
    return torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 2), [3, 2])


def image():
    return PIL.Image.new("RGB", (16, 16), (200, 100, 50))


def on(*shape):
    """Calls a layer with a tensor."""
    return lambda layer: layer(torch.ones(shape))


def iterate(loader):
    if loader.num_workers and not isinstance(loader.num_workers, float):
        # Worker processes are not tested here.
        loader.num_workers = loader.timeout = 0
    for _ in loader:
        pass


def schedule(scheduler):
    for _ in range(2):
        scheduler.optimizer.step()
        scheduler.step(*([1.0] if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau) else []))


def autocast(context):
    with context:
        torch.ones(2, 2) @ torch.ones(2, 2)


def scale(scaler):
    scaler.scale(torch.ones(1, requires_grad=True))


def transform(call):
    call(image())


def transform_tensor(call):
    call(torch.ones(3, 16, 16))


# For each path: the use of the result, and functions that return the arguments of a call.
CONTAINERS = {
    "torch.nn.Sequential": (on(1, 2), lambda: given(linear(), linear()), lambda: given(linear())),
    "torch.nn.ModuleList": (None, lambda: given([linear(), linear()])),
    "torch.nn.ModuleDict": (None, lambda: given({"a": linear()})),
    "torch.nn.ParameterList": (None, lambda: given([torch.nn.Parameter(torch.ones(2))])),
    "torch.nn.ParameterDict": (None, lambda: given({"a": torch.nn.Parameter(torch.ones(2))})),
    "torch.nn.DataParallel": (on(1, 2), lambda: given(linear()), lambda: given(linear(), device_ids=[0])),
    "torch.nn.parallel.DistributedDataParallel": (on(1, 2), lambda: given(linear())),
}
LAYERS = {
    **{f"torch.nn.{name}": (on(1, 2), lambda: given(), lambda: given(0.2)) for name in ("Dropout", "AlphaDropout")},
    "torch.nn.Dropout1d": (on(1, 2, 2), lambda: given(), lambda: given(0.2)),
    "torch.nn.Dropout2d": (on(1, 2, 2, 2), lambda: given(), lambda: given(0.2)),
    "torch.nn.Dropout3d": (on(1, 2, 2, 2, 2), lambda: given(), lambda: given(0.2)),
    "torch.nn.Flatten": (on(1, 2, 2, 2), lambda: given(), lambda: given(1, 2), lambda: given(0)),
    "torch.nn.Unflatten": (on(1, 4), lambda: given(1, (2, 2)), lambda: given(1, torch.Size([2, 2]))),
    "torch.nn.Upsample": (
        on(1, 1, 2, 2),
        lambda: given((4, 4)),
        lambda: given(size=4),
        lambda: given(scale_factor=2),
        lambda: given(scale_factor=(2.0, 2.0)),
        lambda: given(scale_factor=2, mode="bilinear", align_corners=True),
    ),
    "torch.nn.UpsamplingBilinear2d": (on(1, 1, 2, 2), lambda: given(4), lambda: given(scale_factor=2)),
    "torch.nn.UpsamplingNearest2d": (on(1, 1, 2, 2), lambda: given(4), lambda: given(scale_factor=2)),
    "torch.nn.PixelShuffle": (on(1, 4, 2, 2), lambda: given(2)),
    "torch.nn.PixelUnshuffle": (on(1, 1, 4, 4), lambda: given(2)),
    "torch.nn.ChannelShuffle": (on(1, 4, 2, 2), lambda: given(2)),
    "torch.nn.Unfold": (on(1, 1, 4, 4), lambda: given(2), lambda: given((2, 2), stride=(1, 2))),
    "torch.nn.Fold": (on(1, 4, 4), lambda: given(4, 2, stride=2), lambda: given((4, 4), (2, 2), stride=2)),
    "torch.nn.Hardsigmoid": (on(1, 2), lambda: given()),
    "torch.nn.RReLU": (on(1, 2), lambda: given(), lambda: given(0.1, 0.2)),
    "torch.nn.EmbeddingBag": (
        lambda layer: layer(torch.tensor([[0, 1]])),
        lambda: given(4, 2),
        lambda: given(4, 2, max_norm=1.0, padding_idx=0),
    ),
    "torch.nn.CosineSimilarity": (lambda layer: layer(torch.ones(2, 2), torch.ones(2, 2)), lambda: given()),
    "torch.nn.PairwiseDistance": (lambda layer: layer(torch.ones(2, 2), torch.ones(2, 2)), lambda: given()),
    "torch.nn.TripletMarginLoss": (lambda loss: loss(*(torch.ones(2, 2),) * 3), lambda: given()),
    "torch.nn.TripletMarginWithDistanceLoss": (
        lambda loss: loss(*(torch.ones(2, 2),) * 3),
        lambda: given(),
        lambda: given(distance_function=torch.nn.PairwiseDistance()),
    ),
    "torch.nn.TransformerDecoder": (
        lambda layer: layer(torch.ones(1, 2, 4), torch.ones(1, 2, 4)),
        lambda: given(torch.nn.TransformerDecoderLayer(4, 2, 4), 1),
        lambda: given(torch.nn.TransformerDecoderLayer(4, 2, 4), 1, torch.nn.LayerNorm(4)),
    ),
    "torch.nn.AdaptiveLogSoftmaxWithLoss": (
        lambda loss: loss(torch.ones(2, 4), torch.tensor([0, 3])),
        lambda: given(4, 4, [2]),
        lambda: given(4, 4, (1, 3)),
    ),
}
# PyTorch 2.1 has no samples of these losses.
LOSSES = {
    f"torch.nn.{name}": (
        lambda loss, inputs=inputs: loss(*inputs),
        lambda: given(),
        lambda: given(reduction="sum"),
        *(lambda keyword=keyword, value=value: given(**{keyword: value}) for keyword, value in more),
    )
    for name, inputs, *more in (
        ("MSELoss", (torch.ones(2), torch.ones(2))),
        ("SmoothL1Loss", (torch.ones(2), torch.ones(2)), ("beta", 0.5)),
        ("HuberLoss", (torch.ones(2), torch.ones(2)), ("delta", 0.5)),
        ("BCELoss", (torch.ones(2), torch.ones(2)), ("weight", torch.ones(2))),
        ("BCEWithLogitsLoss", (torch.ones(2), torch.ones(2)), ("weight", torch.ones(2)), ("pos_weight", torch.ones(2))),
        ("KLDivLoss", (torch.ones(2), torch.ones(2)), ("reduction", "batchmean")),
        ("PoissonNLLLoss", (torch.ones(2), torch.ones(2))),
        ("SoftMarginLoss", (torch.ones(2), torch.ones(2))),
        ("HingeEmbeddingLoss", (torch.ones(2), torch.ones(2)), ("margin", 0.5)),
        ("MarginRankingLoss", (torch.ones(2), torch.ones(2), torch.ones(2)), ("margin", 0.5)),
        ("CosineEmbeddingLoss", (torch.ones(2, 2), torch.ones(2, 2), torch.ones(2)), ("margin", 0.5)),
        ("MultiLabelMarginLoss", (torch.ones(1, 2), torch.tensor([[0, -1]]))),
        ("MultiLabelSoftMarginLoss", (torch.ones(1, 2), torch.ones(1, 2)), ("weight", torch.ones(2))),
        ("MultiMarginLoss", (torch.ones(1, 2), torch.tensor([0])), ("p", 2), ("weight", torch.ones(2))),
        ("CTCLoss", (torch.zeros(4, 1, 3), torch.tensor([[1, 2]]), [4], [2]), ("blank", 0)),
    )
}
DATA = {
    "torch.utils.data.DataLoader": (
        iterate,
        lambda: given(dataset()),
        lambda: given(dataset(), 2, True),
        lambda: given([1, 2, 3], batch_size=2, collate_fn=list),
        lambda: given(dataset(), sampler=[0, 1]),
        lambda: given(dataset(), generator=torch.Generator()),
        lambda: given(Stream()),
        lambda: given(dataset(), num_workers=1),
        lambda: given(dataset(), num_workers=1, timeout=1, prefetch_factor=2, persistent_workers=True),
        lambda: given(dataset(), num_workers=1, multiprocessing_context="spawn", worker_init_fn=nothing),
    ),
    "torch.utils.data.TensorDataset": (
        lambda data: data[0],
        lambda: given(torch.ones(4, 2), torch.ones(4)),
        lambda: given(torch.ones(4, 2)),
    ),
    "torch.utils.data.Subset": (
        lambda data: [data[i] for i in range(len(data))],
        lambda: given(dataset(), [0, 1]),
        lambda: given(dataset(), range(2)),
        lambda: given([1.0, 2.0], [0, 1]),
    ),
    "torch.utils.data.ConcatDataset": (
        lambda data: data[0],
        lambda: given([dataset(), dataset()]),
        lambda: given([[1.0], [2.0]]),
    ),
    "torch.utils.data.random_split": (
        None,
        lambda: given(dataset(), [3, 1]),
        lambda: given(dataset(), [0.5, 0.5]),
        lambda: given([1, 2, 3, 4], (2, 2)),
        lambda: given([torch.ones(2)] * 4, [2, 2]),
    ),
    "torch.utils.data.WeightedRandomSampler": (
        list,
        lambda: given([0.5, 0.5], 2),
        lambda: given(torch.ones(4), 2, False),
        lambda: given([1, 2], num_samples=2, generator=torch.Generator()),
    ),
    "torch.utils.data.RandomSampler": (
        list,
        lambda: given(dataset()),
        lambda: given([1, 2], replacement=True, num_samples=2),
    ),
    "torch.utils.data.SequentialSampler": (list, lambda: given(dataset()), lambda: given([1, 2])),
    "torch.utils.data.SubsetRandomSampler": (list, lambda: given([0, 1]), lambda: given(range(2))),
    "torch.utils.data.BatchSampler": (
        list,
        lambda: given(torch.utils.data.SequentialSampler([1, 2]), 2, False),
        lambda: given([0, 1, 2], batch_size=2, drop_last=True),
    ),
    "torch.utils.data.DistributedSampler": (list, lambda: given(dataset()), lambda: given(dataset(), 2, 1)),
}
SCHEDULERS = {
    f"torch.optim.lr_scheduler.{name}": (schedule, *samples)
    for name, samples in {
        "StepLR": (lambda: given(optimizer(), 2), lambda: given(optimizer(), step_size=1, gamma=0.5)),
        "MultiStepLR": (lambda: given(optimizer(), [1, 2]), lambda: given(optimizer(), milestones=(1, 2), gamma=0.5)),
        "ConstantLR": (lambda: given(optimizer()), lambda: given(optimizer(), 0.5, 2)),
        "LinearLR": (lambda: given(optimizer()), lambda: given(optimizer(), 0.5, 1.0, 2)),
        "ExponentialLR": (lambda: given(optimizer(), 0.9),),
        "PolynomialLR": (lambda: given(optimizer()), lambda: given(optimizer(), 3, 2.0)),
        "CosineAnnealingLR": (lambda: given(optimizer(), 4), lambda: given(optimizer(), T_max=4, eta_min=0.01)),
        "CosineAnnealingWarmRestarts": (lambda: given(optimizer(), 4), lambda: given(optimizer(), 4, 2, 0.01)),
        "LambdaLR": (
            lambda: given(optimizer(), lambda epoch: 0.5),
            lambda: given(optimizer(), [lambda epoch: 0.5]),
        ),
        "MultiplicativeLR": (
            lambda: given(optimizer(), lambda epoch: 0.5),
            lambda: given(optimizer(), [lambda epoch: 0.5]),
        ),
        "CyclicLR": (
            lambda: given(optimizer(), 0.01, 0.1),
            lambda: given(optimizer(), [0.01], [0.1], step_size_up=2, step_size_down=2, mode="triangular2"),
            lambda: given(optimizer(), 0.01, 0.1, scale_fn=lambda x: 0.5, scale_mode="iterations"),
        ),
        "OneCycleLR": (
            lambda: given(optimizer(), 0.1, total_steps=4),
            lambda: given(optimizer(), [0.1], epochs=2, steps_per_epoch=2, anneal_strategy="linear"),
        ),
        "ReduceLROnPlateau": (
            lambda: given(optimizer()),
            lambda: given(optimizer(), "max", 0.5, 2, threshold_mode="abs", min_lr=[0.01]),
        ),
    }.items()
}
OTHERS = {
    "torch.load": (None, lambda: given(saved()), lambda: given(saved(), map_location="cpu")),
    "torch.save": (None, lambda: given({"a": torch.ones(2)}, io.BytesIO())),
    "torch.manual_seed": (None, lambda: given(1)),
    # PyTorch 2.1 has no samples of these functions.
    **{
        path: (
            None,
            lambda: given(torch.ones(1, 2, 3, 3, 3), torch.ones(2, 2, 2, 2, 2), torch.ones(2), 1, 0, 1, 1),
            lambda: given(torch.ones(1, 2, 3, 3, 3), torch.ones(2, 2, 2, 2, 2), stride=(1, 2, 1), padding=(1, 0, 1)),
            lambda: given(torch.ones(1, 2, 3, 3, 3), torch.ones(2, 2, 2, 2, 2), padding="same"),
            lambda: given(torch.ones(1, 2, 3, 3, 3), torch.ones(2, 1, 2, 2, 2), dilation=(1, 1, 2), groups=2),
        )
        for path in ("torch.conv3d", "torch.nn.functional.conv3d")
    },
    "torch.nn.utils.clip_grad_norm_": (
        None,
        lambda: given(weights(), 1.0),
        lambda: given(iter(weights()), 1, norm_type="inf"),
        lambda: given(weights()[0], 1.0),
    ),
    "torch.nn.utils.clip_grad_value_": (
        None,
        lambda: given(weights(), 1.0),
        lambda: given(iter(weights()), 1),
        lambda: given(weights()[0], 1.0),
    ),
    "torch.nn.utils.parameters_to_vector": (None, lambda: given(weights()), lambda: given(iter(weights()))),
    "torch.nn.utils.rnn.pack_padded_sequence": (
        None,
        lambda: given(torch.ones(3, 2, 2), [3, 2]),
        lambda: given(torch.ones(3, 2, 2), torch.tensor([2, 3]), enforce_sorted=False),
        lambda: given(torch.ones(2, 3, 2), [3, 2], True),
    ),
    "torch.nn.utils.rnn.pack_sequence": (None, lambda: given([torch.ones(3, 2), torch.ones(2, 2)])),
    "torch.nn.utils.rnn.pad_sequence": (
        None,
        lambda: given([torch.ones(3), torch.ones(2)]),
        lambda: given([torch.ones(3), torch.ones(2)], True, 1),
    ),
    "torch.nn.utils.rnn.pad_packed_sequence": (
        None,
        lambda: given(packed()),
        lambda: given(packed(), batch_first=True, total_length=4),
    ),
    "torch.amp.GradScaler": (scale, lambda: given("cpu"), lambda: given("cpu", init_scale=2.0, growth_interval=2)),
    "torch.cuda.amp.GradScaler": (scale, lambda: given(), lambda: given(2.0)),
    "torch.autocast": (autocast, lambda: given("cpu"), lambda: given("cpu", torch.bfloat16, False)),
    "torch.amp.autocast": (autocast, lambda: given("cpu"), lambda: given("cpu", torch.bfloat16, False)),
    "torch.cuda.amp.autocast": (autocast, lambda: given(), lambda: given(False)),
    **{
        f"torch.nn.init.{name}": (None, lambda: given(torch.ones(2, 2)), *more)
        for name, more in {
            "uniform_": (lambda: given(torch.ones(2), 0, 1.0),),
            "normal_": (lambda: given(torch.ones(2), 0, 1.0),),
            "trunc_normal_": (lambda: given(torch.ones(2), 0, 1.0),),
            "constant_": (lambda: given(torch.ones(2), 0), lambda: given(torch.ones(2), 0.5)),
            "ones_": (),
            "zeros_": (),
            "eye_": (),
            "dirac_": (lambda: given(torch.ones(2, 2, 3)), lambda: given(torch.ones(2, 2, 3), 2)),
            "orthogonal_": (lambda: given(torch.ones(2, 2), 2),),
            "sparse_": (lambda: given(torch.ones(2, 2), 0.5),),
            "xavier_uniform_": (lambda: given(torch.ones(2, 2), 2),),
            "xavier_normal_": (lambda: given(torch.ones(2, 2), 2),),
            "kaiming_uniform_": (lambda: given(torch.ones(2, 2), 0.5, "fan_out", "relu"),),
            "kaiming_normal_": (lambda: given(torch.ones(2, 2), 0.5, "fan_out", "relu"),),
        }.items()
    },
    "torch.nn.init.calculate_gain": (None, lambda: given("relu"), lambda: given("leaky_relu", 0.2)),
}
TRANSFORMS = {
    f"torchvision.transforms.{name}": samples
    for name, samples in {
        "Resize": (transform, lambda: given(8), lambda: given((8, 8)), lambda: given(8, max_size=10)),
        "CenterCrop": (transform, lambda: given(8), lambda: given((8, 8))),
        "RandomCrop": (
            transform,
            lambda: given(8),
            lambda: given((8, 8), 2),
            lambda: given(8, (2, 2), True, (1, 2, 3)),
        ),
        "RandomResizedCrop": (transform, lambda: given(8), lambda: given((8, 8), (0.5, 1.0), [1.0, 1.0])),
        "FiveCrop": (transform, lambda: given(8), lambda: given((8, 8))),
        "TenCrop": (transform, lambda: given(8), lambda: given((8, 8), True)),
        "RandomHorizontalFlip": (transform, lambda: given(), lambda: given(1)),
        "RandomVerticalFlip": (transform, lambda: given(), lambda: given(1)),
        "RandomGrayscale": (transform, lambda: given(), lambda: given(1)),
        "RandomInvert": (transform, lambda: given(), lambda: given(1)),
        "RandomAutocontrast": (transform, lambda: given(), lambda: given(1)),
        "RandomEqualize": (transform, lambda: given(), lambda: given(1)),
        "RandomPosterize": (transform, lambda: given(2, p=1),),
        "RandomSolarize": (transform, lambda: given(100, p=1), lambda: given(0.5, p=1)),
        "RandomAdjustSharpness": (transform, lambda: given(2, p=1), lambda: given(0.5, p=1)),
        "RandomPerspective": (transform, lambda: given(p=1.0), lambda: given(0.2, 1, fill=(1, 2, 3))),
        "RandomRotation": (transform, lambda: given(10), lambda: given((-10, 10), center=(2, 2), fill=(1, 2, 3))),
        "RandomAffine": (
            transform,
            lambda: given(10),
            lambda: given((-10, 10), (0.1, 0.1), (0.5, 1.0), 5, fill=1, center=(2, 2)),
            lambda: given(0, shear=(1, 2, 3, 4)),
        ),
        "ColorJitter": (transform, lambda: given(0.2, 0.2, 0.2, 0.2), lambda: given(*[(0.1, 0.2)] * 4)),
        "Grayscale": (transform, lambda: given(), lambda: given(3)),
        "Pad": (transform, lambda: given(2), lambda: given((1, 2), (1, 2, 3)), lambda: given([1, 2, 3, 4], 1, "edge")),
        "GaussianBlur": (transform, lambda: given(3), lambda: given((3, 3), 0.5), lambda: given(3, (0.1, 0.5))),
        "Lambda": (transform, lambda: given(lambda value: value)),
        "Compose": (transform, lambda: given([torchvision.transforms.ToTensor()]), lambda: given([same])),
        "RandomApply": (transform, lambda: given([torchvision.transforms.ToTensor()], 1)),
        "RandomChoice": (
            transform,
            lambda: given([Plain(), Plain()]),
            lambda: given([same], p=[1]),
            lambda: given((torchvision.transforms.ToTensor(),)),
        ),
        "Normalize": (
            transform_tensor,
            lambda: given((0.5,), (0.5,)),
            lambda: given([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
            lambda: given(0.5, 0.5),
        ),
        "RandomErasing": (transform_tensor, lambda: given(1), lambda: given(1, (0.1, 0.2), (1, 2), "random")),
        "ConvertImageDtype": (transform_tensor, lambda: given(torch.float64)),
        "ToPILImage": (transform_tensor, lambda: given(), lambda: given("RGB")),
        "ToTensor.__call__": (None, lambda: given(torchvision.transforms.ToTensor(), image())),
        "PILToTensor.__call__": (None, lambda: given(torchvision.transforms.PILToTensor(), image())),
    }.items()
}
BY_HAND = {**CONTAINERS, **LAYERS, **LOSSES, **DATA, **SCHEDULERS, **OTHERS, **TRANSFORMS}
# The parameters to test, if the other parameters take special objects or would make the calls slow.
ONLY = {
    "torch.nn.parallel.DistributedDataParallel": {
        *("module", "device_ids", "output_device", "find_unused_parameters", "broadcast_buffers", "static_graph"),
        "gradient_as_bucket_view",
    },
}


def by_hand(signature_of):
    for path, (use, *makers) in BY_HAND.items():
        function = resolved(path)
        if function is not None and signature_of(path) is not None:
            yield path, function, [Sample(make, use) for make in makers], len(makers)


# --- the list ------------------------------------------------------------------------------


def experiments():
    """What the experiments show, by path and parameter."""
    texts = signatures()

    def signature_of(path):
        if path in texts:
            return merged([listed_overload(text) for text in texts[path]])
        return merged([inspected_overload(resolved(path))]) if path.startswith("torchvision.") else None

    found = {}
    for source in (operators, layers, optimizers, by_hand):
        for path, function, samples, count in source(signature_of):
            torch.manual_seed(0)
            random.seed(0)
            signature = signature_of(path)
            samples, kinds = selected(samples, signature, count)
            findings = found.setdefault(path, {})
            only = ONLY.get(path)
            if not path.rsplit(".", 1)[1][0].isupper():
                # The other arguments of a function depend on each other (`movedim(x, 0, 1)`), so a test that
                # replaces one of them shows little.
                only = {signature.names[0] if signature and signature.names else None}
            experiment(function, signature, samples, findings, only)
            for name in kinds.keys() & findings.keys():
                findings[name].accepted |= kinds[name]
    return {
        (path, name): finding.kinds() for path, findings in found.items() for name, finding in findings.items()
    }


def read(file):
    """The version and the kinds of a list."""
    first, *lines = file.read_text(encoding="utf-8").splitlines()
    kinds = {}
    for line in lines:
        key, _, rest = line.partition(":")
        now, _, later = rest.partition("|")
        kinds[tuple(key.split(" "))] = set(now.split()), set(later.split())
    return re.search(r"PyTorch (.*)\. Do not edit", first)[1], kinds


def kept(kinds, others):
    """The kinds that this version and all others reject, for the parameters that all versions have."""
    for other in others:
        found = {}
        for key in kinds.keys() & other.keys():
            (now, later), (other_now, other_later) = kinds[key], other[key]
            rejected = (now | later) & (other_now | other_later)
            found[key] = now & other_now, rejected - (now & other_now)
        kinds = found
    return kinds


def lines_of(kinds):
    for (path, name), (now, later) in sorted(kinds.items()):
        if now or later:
            after = f" | {' '.join(sorted(later))}" if later else ""
            yield f"{path} {name}:{''.join(f' {kind}' for kind in sorted(now))}{after}"


def prepare(folder):
    """Makes the calls quiet and harmless: they may write files in this folder, and use a group of one process."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.backends.mkldnn.set_flags(False)  # PyTorch 2.1 crashes there for a layer of size 0
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.chdir(folder)
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--with",
        dest="others",
        nargs="+",
        type=pathlib.Path,
        default=[],
        help="lists of other versions: only what all versions reject is kept",
    )
    parser.add_argument("--check", type=pathlib.Path, help="compare with this file instead of printing")
    options = parser.parse_args()
    others = [read(file) for file in options.others]
    have = read(options.check)[1] if options.check else None
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        kinds = experiments()
        torch.distributed.destroy_process_group()
    if have is not None:
        # Without the lists of other versions, this checks only that this version rejects the kinds of the file.
        kinds = kept(kinds, [other for _, other in others] or [have])
        different = sorted(set(lines_of(have)) ^ set(lines_of(kinds)))
        print("\n".join(different[:20]))
        print(f"{len(have)} parameters, {len(different)} lines differ")
        sys.exit(bool(different))
    versions = ", ".join([torch.__version__.split("+")[0], *(version for version, _ in others)])
    print(f"# Made by tests/conformance/kinds.py from PyTorch {versions}. Do not edit.")
    print("\n".join(lines_of(kept(kinds, [other for _, other in others]))))


if __name__ == "__main__":
    main()
