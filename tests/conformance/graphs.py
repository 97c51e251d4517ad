"""Checks that torchvet does not report a missing graph if an unknown operand may have one.

    python tests/conformance/graphs.py --torchvet BIN [--only NAME ...] [--print]

For each operator of PyTorch's operator database that has gradients, and each of its operands from
which the result gets a graph, a program calls the operator with this operand unknown and the others
known, and then `backward()` on the result.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import torch

MOST_SAMPLES = 3  # the largest number for one operator
HEADER = "import torch\nfrom somewhere import unknown\n\nopen = unknown()\n"


class CannotWrite(Exception):
    """The sample has an argument of a kind that is not written as code."""


def replaced(value, tensors):
    """The argument with its tensors replaced by `tensors`, an iterator."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(item, tensors) for item in value)
    return value


def written(value, at):
    """The argument as code. `at[0]` is the number of tensors to write before the unknown operand; each
    tensor that is written reduces it by 1."""
    if isinstance(value, torch.Tensor):
        at[0] -= 1
        if at[0] == -1:
            return "open"
        if value.is_floating_point():
            return f"torch.rand({list(value.shape)})"
        return f"torch.ones({list(value.shape)}, dtype={value.dtype})"
    if isinstance(value, (list, tuple)):
        items = ", ".join(written(item, at) for item in value)
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, (int, float, str, type(None), torch.dtype)):
        return f'float("{value}")' if str(value) in ("nan", "inf", "-inf") else repr(value)
    raise CannotWrite(type(value))


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def callee_of(name):
    """The function `torch.<name>`, or the method of that name, and whether it is a method."""
    found = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not None:
        return found, False
    return getattr(torch.Tensor, name, None), True


def with_graph(function, arguments, keywords, tensors, at):
    """The index of the first result that has a graph if only the tensor `at` requires grad; `-1` for a
    single result, `None` without a graph."""
    fresh = [tensor.detach().clone() for tensor in tensors]
    fresh[at].requires_grad_()
    given = iter(fresh)
    try:
        result = function(*replaced(arguments, given), **{key: replaced(value, given) for key, value in keywords.items()})
    except Exception:  # the database calls some operators with a wrapper or with gradients
        return None
    if isinstance(result, torch.Tensor):
        return -1 if result.requires_grad else None
    parts = result if isinstance(result, (list, tuple)) else []
    return next((i for i, part in enumerate(parts) if isinstance(part, torch.Tensor) and part.requires_grad), None)


def programs(only):
    """Yields the programs: the operator's name, the call, and the code."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        function, is_method = callee_of(op.name)
        if not op.supports_autograd or op.name.startswith("_") or function is None or only and op.name not in only:
            continue
        count = 0
        for sample in op.sample_inputs("cpu", torch.float32, requires_grad=False):
            arguments, keywords = [sample.input, *sample.args], dict(sample.kwargs)
            tensors = tensors_in([arguments, list(keywords.values())])
            floating = [i for i, tensor in enumerate(tensors) if tensor.is_floating_point()]
            if len(floating) < 2:
                continue
            for at in floating:
                part = with_graph(function, arguments, keywords, tensors, at)
                if part is None:
                    continue
                counter = [at]
                try:
                    given = [written(value, counter) for value in arguments]
                    given += [f"{key}={written(value, counter)}" for key, value in keywords.items()]
                except CannotWrite:
                    break
                callee = f"{given[0]}.{op.name}" if is_method else f"torch.{op.name}"
                call = f"{callee}({', '.join(given[is_method:])})"
                chosen = "" if part == -1 else f"[{part}]"
                yield op.name, call, f"{HEADER}result = {call}\nresult{chosen}.sum().backward()\n"
            count += 1
            if count == MOST_SAMPLES:
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchvet", required=True)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="test only these operators")
    parser.add_argument("--print", action="store_true", help="print every call")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        calls = []
        for name, call, code in programs(options.only):
            pathlib.Path(folder, f"p{len(calls)}.py").write_text(code)
            calls.append((name, call))
            if options.print:
                print(call)
        command = [options.torchvet, "check", "--isolated", "--output-format", "json", folder]
        findings = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    wrong = [finding for finding in findings if "has no graph" in finding["message"]]
    for finding in wrong:
        number = int(re.search(r"p(\d+)\.py$", finding["filename"])[1])
        print(f"reported as having no graph: {calls[number][1]}")
    print(f"{len(calls)} calls of {len({name for name, _ in calls})} operators with an unknown operand; wrong: {len(wrong)}")
    sys.exit(bool(wrong) or not calls)


if __name__ == "__main__":
    main()
