"""Lists the kinds of value that functions of PyTorch reject as their first argument.

    python tests/conformance/kinds.py > src/library/data/kinds.txt
    python tests/conformance/kinds.py --check src/library/data/kinds.txt

A line is the function, a colon, and the kinds: a kind is listed if the function accepts a sample of PyTorch's
operator database, and raises an exception for each sample once its first argument is replaced by a value of that
kind. If some overload of a function accepts a value of a kind, this kind is not listed.
"""

import argparse
import pathlib
import re
import sys
import warnings

import numpy as np
import torch

SIGNATURES = pathlib.Path(__file__).parent.parent.parent / "src/library/signatures.txt"
SAMPLES = 12  # the largest number for each operator

# Functions that create the values, because an iterator can be used only once. Most functions of
# PyTorch accept a tensor of these numbers, so a value is rejected because of its kind.
KINDS = {
    "number": (lambda: 1, lambda: 1.5, lambda: True),
    "text": (lambda: "a",),
    "none": (lambda: None,),
    "list": (lambda: [1.0, 2.0], lambda: [[1.0, 2.0], [3.0, 4.0]], lambda: [1, 2], lambda: []),
    "tuple": (lambda: (1.0, 2.0), lambda: (1, 2), lambda: ()),
    "tensors": (lambda: [torch.ones(2, 2), torch.ones(2, 2)], lambda: (torch.ones(2), torch.ones(2))),
    "dict": (lambda: {"a": torch.ones(2, 2)},),
    "set": (lambda: {1, 2},),
    "iterator": (lambda: map(torch.ones, [2, 2]), lambda: iter([torch.ones(2), torch.ones(2)])),
    "array": (lambda: np.ones((2, 2), dtype=np.float32), lambda: np.ones(2), lambda: np.array([1, 2])),
    "module": (lambda: torch.nn.Identity(), lambda: torch.nn.Linear(2, 2)),
}


def first_parameters():
    """The first parameter of each listed function, if all its overloads agree."""
    found = {}
    for line in SIGNATURES.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([\w.]+)\((\w+)", line):
            found.setdefault(match[1], set()).add(match[2])
    return {path: names.pop() for path, names in found.items() if len(names) == 1}


def resolved(path):
    value = torch
    for name in path.split(".")[1:]:
        value = getattr(value, name, None)
    return value


def succeeds(function, first, sample):
    try:
        function(first, *sample.args, **sample.kwargs)
    except Exception:
        return False
    return True


def rejected(path, function, op):
    """The kinds that the function rejects in place of the first argument of each sample."""
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool) if d in op.dtypes), None)
    if dtype is None:
        return set()
    samples = list(op.sample_inputs("cpu", dtype))
    # The first and the last samples, which are likely to include all overloads.
    samples = samples[: SAMPLES // 2] + samples[SAMPLES // 2 :][-(SAMPLES // 2) :]
    samples = [sample for sample in samples if succeeds(function, sample.input, sample)]
    if not samples:
        return set()
    return {
        kind
        for kind, makers in KINDS.items()
        if not any(succeeds(function, make(), sample) for sample in samples for make in makers)
    }


def listed():
    from torch.testing._internal.common_methods_invocations import op_db

    parameters = first_parameters()
    kinds = {}
    for op in op_db:
        for name in (op.name, *(alias.name for alias in op.aliases)):
            path = name if name.startswith("torch.") else f"torch.{name}"
            function = resolved(path)
            if path not in parameters or not callable(function):
                continue
            found = rejected(path, function, op)
            # The variants of an operator are separate entries of `op_db`.
            kinds[path] = found if path not in kinds else kinds[path] & found
    return [f"{path}: {' '.join(sorted(found))}" for path, found in sorted(kinds.items()) if found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=pathlib.Path, help="compare with this file instead of printing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    lines = [f"# Made by tests/conformance/kinds.py from PyTorch {torch.__version__.split('+')[0]}. Do not edit.", *listed()]
    if not options.check:
        print("\n".join(lines))
        return
    have = options.check.read_text(encoding="utf-8").splitlines()
    different = sorted(set(have[1:]) ^ set(lines[1:]))
    print("\n".join(different[:20]))
    print(f"{len(lines) - 1} functions, {len(different)} lines differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
