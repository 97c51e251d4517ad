"""Compares the contracts of losses, indices and sampling with the installed PyTorch.

    python tests/contracts_fuzz.py [--only FUNCTION ...]

Calls each function with many combinations of shapes, dtypes and values, and checks that a `require`
fails if and only if PyTorch raises, and that PyTorch's message matches the `cpu` of a page about that
function. SILENT lists the rules about calls that PyTorch accepts: if their `require` fails, PyTorch
need not raise. `--only` restricts the run to functions, given by their path or its end
(`poisson_nll_loss`).
"""

import argparse
import collections
import itertools
import pathlib
import re
import sys
import warnings

import torch
import torch.nn.functional as F

import pages_run

NN = "torch.nn.functional."
# Rules about calls that PyTorch accepts: for example, cross-entropy over one class, or probabilities
# where logits are expected.
SILENT = {"TV109", "TV110", "TV112", "TV114", "TV117", "TV118", "TV120", "TV123"}
SILENT_OF = {NN + "binary_cross_entropy_with_logits": {"TV115"}}


class Judges:
    """The contracts of all pages by function."""

    def __init__(self):
        self.of = collections.defaultdict(list)
        self.cpu = {}
        for path in sorted((pages_run.ROOT / "rules").glob("*.md")):
            page = pages_run.Page(path)
            self.cpu[page.code] = page.metadata.get("cpu", "(?!)")
            for function, contracts in page.contracts().items():
                self.of[function] += [(page.code, contract) for contract in contracts]

    def errors(self, function, arguments):
        """The codes of the `require`s that fail; raises if a contract cannot be evaluated."""
        codes = []
        for code, contract in self.of[function]:
            finding = contract.check(arguments)
            if finding is not None and finding.severity == "error":
                codes.append(code)
        return codes


    def claim(self, function, error):
        return any(re.search(self.cpu[code], error) for code, _ in self.of[function])


class Tally:
    def __init__(self, judges, only):
        self.judges = judges
        self.only = only
        self.calls = collections.Counter()
        self.raised = collections.Counter()
        self.several = collections.Counter()
        self.faults = collections.defaultdict(dict)

    def call(self, path, function, arguments):
        if self.only and not any(named(name, path) for name in self.only):
            return
        codes = self.judges.errors(path, arguments)
        try:
            function(**arguments)
            error = None
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        silent = SILENT | SILENT_OF.get(path, set())
        loud = [code for code in codes if code not in silent]
        self.calls[path] += 1
        self.raised[path] += error is not None
        self.several[path] += len(codes) > 1
        fault = None
        if error and not codes:
            fault = f"no contract for {error!r}"
        elif error and not self.judges.claim(path, error):
            fault = f"no `cpu` matches {error!r}, for which {codes} failed"
        elif loud and not error:
            fault = f"{loud} fails, but PyTorch accepts the call"
        if fault:
            kind = re.sub(r"(?<!\w)-?\d+\b", "N", fault)
            self.faults[path].setdefault(kind, []).append(show(arguments))

    def report(self):
        for path, calls in self.calls.items():
            print(f"{path}: {calls} calls, {self.raised[path]} raise,", end=" ")
            faults = self.faults[path]
            print(f"{sum(map(len, faults.values()))} faults, {self.several[path]} with more than one failed contract")
            for kind, shown in faults.items():
                print(f"    {len(shown)} times {kind}: {shown[0]}")
        return sum(len(shown) for faults in self.faults.values() for shown in faults.values())


def named(name, path):
    return f".{path}".endswith(f".{name}")


def show(arguments):
    def text(value):
        if not isinstance(value, torch.Tensor):
            return repr(value)
        dtype = str(value.dtype).removeprefix("torch.")
        return f"{dtype}{list(value.shape)}={value.flatten()[:6].tolist()}"

    return ", ".join(f"{name}={text(value)}" for name, value in arguments.items())


def filled(shape, dtype, pattern):
    """A tensor of a shape, filled with repetitions of the pattern."""
    count = torch.Size(shape).numel()
    values = list(itertools.islice(itertools.cycle(pattern), count))
    return torch.tensor(values, dtype=torch.float64).to(torch.int64).reshape(shape).to(dtype)


LOGITS = [(1,), (3,), (2, 1), (4, 3), (0, 3), (2, 3, 5), (2, 5, 5), (2, 1, 5)]
LOGITS += [(2, 3, 2, 4), (2, 1, 2, 2), (1, 2, 2, 2, 2)]
TARGET_DTYPES = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
TARGET_DTYPES += [torch.float32, torch.float64, torch.float16]
PATTERNS = [[0], [0, 1], [0, 2], [2, 0, 3], [0, -1], [1, -100], [0, 255], [0, 1, 2, 255]]
PATTERNS += [[0, -1, 255], [5, 0], [-2, 0]]


def target_shapes(logits):
    shapes = {(), (1,), (2,), (logits[0],), (logits[0], 1), logits, logits[:1] + logits[2:]}
    shapes |= {logits[:-1], logits[:1] + (1,) + logits[2:], logits[:1] + logits[2:][::-1]}
    shapes |= {(logits[0] + 1,) + logits[2:], logits + (1,), (4, 3)}
    return sorted(shapes)


def class_losses(tally):
    for shape, smoothable in itertools.product(LOGITS, (True, False)):
        function = F.cross_entropy if smoothable else F.nll_loss
        path = NN + function.__name__
        logits = torch.randn(shape).log_softmax(0 if len(shape) == 1 else 1)
        dtypes = (torch.int64, torch.int32, torch.uint8, torch.float32)
        for wanted, dtype, pattern in itertools.product(target_shapes(shape), dtypes, PATTERNS):
            target = filled(wanted, dtype, pattern)
            for ignore_index in (-100, -1, 255, 0):
                reduction = "mean" if ignore_index < 0 else "none"
                arguments = dict(input=logits, target=target)
                arguments |= dict(ignore_index=ignore_index, reduction=reduction)
                tally.call(path, function, arguments)
        classes = shape[0] if len(shape) == 1 else shape[1]
        weights = [torch.ones(classes), torch.ones(classes + 1), torch.ones(classes).double()]
        weights += [torch.ones(classes, 1), torch.ones(classes).half(), None]
        if classes > 1:
            weights.append(torch.ones(1))
        smoothings = (0.0, 0.1, 1.0, 1.5, -0.1) if smoothable else (0.0,)
        for wanted, dtype in itertools.product(target_shapes(shape), TARGET_DTYPES):
            target = filled(wanted, dtype, [0])
            for weight, smoothing in itertools.product(weights, smoothings):
                arguments = dict(input=logits, target=target, weight=weight)
                if smoothable:
                    arguments["label_smoothing"] = smoothing
                if not target.numel() and dtype == torch.uint8 and smoothing > 0:
                    continue  # PyTorch does not check the dtype of an empty batch
                tally.call(path, function, arguments)


def embeddings(tally):
    weight = torch.randn(4, 2)
    for dtype, pattern in itertools.product((torch.int64, torch.int32), PATTERNS):
        for shape in ((), (0,), (3,), (2, 3)):
            ids = filled(shape, dtype, pattern)
            for padding in (None, 0, -1):
                arguments = dict(input=ids, weight=weight, padding_idx=padding)
                tally.call(NN + "embedding", F.embedding, arguments)
        for mode in ("sum", "mean", "max"):
            ids = filled((2, 3), dtype, pattern)
            arguments = dict(input=ids, weight=weight, mode=mode)
            tally.call(NN + "embedding_bag", F.embedding_bag, arguments)


def indexing(tally):
    for shape, pattern in itertools.product(((), (4,), (3, 4)), PATTERNS + [[3], [4], [-3], [-4], [-5]]):
        data = torch.zeros(shape)
        for dim in range(-max(data.ndim, 1), max(data.ndim, 1)):
            index = filled(shape, torch.int64, pattern)
            line = filled((2,), torch.int64, pattern) if shape else filled((1,), torch.int64, pattern)
            selected = list(shape)
            if shape:
                selected[dim] = 2
            source = torch.ones(selected)
            common = dict(input=data, dim=dim, index=index)
            tally.call("torch.gather", torch.gather, common)
            for name in ("scatter", "scatter_add"):
                tally.call("torch." + name, getattr(torch, name), common | dict(src=torch.ones(shape)))
                method = "torch.Tensor." + name + "_"
                in_place = on_copy(name + "_")
                tally.call(method, in_place, common | dict(src=torch.ones(shape)))
            reduced = common | dict(src=torch.ones(shape), reduce="sum")
            tally.call("torch.scatter_reduce", torch.scatter_reduce, reduced)
            tally.call("torch.Tensor.scatter_reduce_", on_copy("scatter_reduce_"), reduced)
            common = dict(input=data, dim=dim, index=line)
            tally.call("torch.index_select", torch.index_select, common)
            tally.call("torch.index_fill", torch.index_fill, common | dict(value=1.0))
            tally.call("torch.Tensor.index_fill_", on_copy("index_fill_"), common | dict(value=1.0))
            for name in ("index_add", "index_copy"):
                arguments = common | dict(source=source)
                tally.call("torch." + name, getattr(torch, name), arguments)
                tally.call(f"torch.Tensor.{name}_", on_copy(name + "_"), arguments)
            reduced = common | dict(source=source, reduce="prod")
            tally.call("torch.index_reduce", torch.index_reduce, reduced)
            tally.call("torch.Tensor.index_reduce_", on_copy("index_reduce_"), reduced)
        for wanted in ((), (3,), (2, 2)):
            index = filled(wanted, torch.int64, pattern)
            tally.call("torch.take", torch.take, dict(input=data, index=index))


def on_copy(name):
    def call(input, **arguments):
        return getattr(input.clone(), name)(**arguments)

    return call


def one_hot(tally):
    for shape, pattern in itertools.product(((), (3,), (2, 3)), PATTERNS):
        for num_classes in (-1, 0, 1, 2, 3, 4, 256):
            arguments = dict(input=filled(shape, torch.int64, pattern), num_classes=num_classes)
            tally.call(NN + "one_hot", F.one_hot, arguments)


FLOATS = [[0.0], [0.0, 1.0], [0.5], [1.5, 0.0], [-0.1], [float("nan")], [255.0, 0.0]]
FLOATS += [[float("inf"), 0.0]]


def repeated(shape, pattern, dtype=torch.float32):
    count = torch.Size(shape).numel()
    values = list(itertools.islice(itertools.cycle(pattern), count))
    return torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)


def binary_losses(tally):
    shapes = [(), (1,), (4,), (4, 1), (2, 4), (0,)]
    for shape, wanted, values in itertools.product(shapes, shapes, FLOATS):
        for dtype in TARGET_DTYPES:
            if dtype != torch.float32 and values[-1] != values[-1]:
                continue
            if not dtype.is_floating_point and max(values) > 255:
                continue
            target = repeated(wanted, values, dtype)
            for function in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
                arguments = dict(input=torch.full(shape, 0.25), target=target)
                tally.call(NN + function.__name__, function, arguments)
        if shape == wanted:
            arguments = dict(input=repeated(shape, values), target=torch.zeros(wanted))
            tally.call(NN + "binary_cross_entropy", F.binary_cross_entropy, arguments)


def counts(tally):
    for shape, values, dtype in itertools.product(((), (4,), (2, 4)), PATTERNS, TARGET_DTYPES):
        for reduction, log_input in itertools.product(("mean", "sum", "none"), (True, False)):
            arguments = dict(input=torch.full(shape, 0.25), target=filled(shape, dtype, values))
            arguments |= dict(reduction=reduction, log_input=log_input)
            tally.call(NN + "poisson_nll_loss", F.poisson_nll_loss, arguments)


def sampling(tally):
    for shape, values in itertools.product(((4,), (2, 4)), FLOATS):
        data = repeated(shape, values)
        tally.call("torch.bernoulli", torch.bernoulli, dict(input=data))
        tally.call("torch.poisson", torch.poisson, dict(input=data))
        if data.sum() != 0:
            for replacement in (False, True):
                arguments = dict(input=data, num_samples=1, replacement=replacement)
                tally.call("torch.multinomial", torch.multinomial, arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="FUNCTION", help="test only these functions")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    tally = Tally(Judges(), options.only)
    for part in (class_losses, embeddings, indexing, one_hot, binary_losses, counts, sampling):
        part(tally)
    for name in options.only:
        if not any(named(name, path) for path in tally.calls):
            sys.exit(f"no part calls {name}")
    faults = tally.report()
    print(f"PyTorch {torch.__version__}: {sum(tally.calls.values())} calls, {faults} faults")
    failed = sum(bool(tally.faults[path]) for path in tally.calls)
    print(f"{len(tally.calls) - failed} passed, {failed} failed")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
