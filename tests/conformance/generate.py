"""Writes the samples of PyTorch's operator and module databases as code, with their results.

    python tests/conformance/generate.py DIR [--only NAME ...] [--limit N] [--dtype ...]

DIR/ops/<op>.py and DIR/modules/<module>.py contain the samples that PyTorch accepts, each as a few
assignments; each DIR/errors/<op>/e<n>.py contains one rejected call. DIR/expected.jsonl has a line
about PyTorch's version, and one line for each sample and each rejected call. A sample is written
only if its code gives the same result as the sample of the database: the same shapes and dtypes, or
an exception of the same type. Some samples are also written in other forms (as a method, in place, as
an operator), each with its own result.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import shutil
import sys
import warnings

import numpy
import torch

HEADER = "import torch\nimport torch.nn.functional as F\n\n"
DTYPES = {"float32": torch.float32, "int64": torch.int64, "bool": torch.bool, "complex64": torch.complex64}
MOST_LITERALS = 64  # a larger tensor is not written as a literal
MOST_RESULTS = 16  # a longer tuple of results is not unpacked
MOST_VARIANTS = 3  # the number of samples of an operator and dtype that are also written in other forms
FORMS = ("rand", "randn", "literal", "positive", "plain")

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//=", "imod": "%=", "ipow": "**=",
    "imatmul": "@=", "iand": "&=", "ior": "|=", "ixor": "^=", "ilshift": "<<=", "irshift": ">>=",
}  # fmt: skip
RANDOM = re.compile(r"\brandn?\(|\brandint\(")
UNARY = {"neg": "-{}", "pos": "+{}", "inv": "~{}", "invert": "~{}", "abs": "abs({})"}

# Functions that the database wraps in a lambda, as users call them. `a` are the arguments, `k` the
# keywords.
SPELLINGS = {
    "polygamma": lambda a, k: call("torch.polygamma", [a[1], a[0]], k),
    "special.polygamma": lambda a, k: call("torch.special.polygamma", [a[1], a[0]], k),
    "einsum": lambda a, k: call("torch.einsum", [a[1], a[0]], k),
    "where": lambda a, k: call("torch.where", [a[1], a[0], a[2]], k),
    "nn.functional.embedding": lambda a, k: call("F.embedding", [a[1], a[0]], k),
    "nn.functional.embedding_bag": lambda a, k: call("F.embedding_bag", [a[1], a[0]], k),
    "svd_lowrank": lambda a, k: call("torch.svd_lowrank", [f"{a[0]} @ {a[1]}.mT"], k),
    "pca_lowrank": lambda a, k: call("torch.pca_lowrank", [f"{a[0]} @ {a[1]}.mT"], k),
    "linalg.pinv.singular": lambda a, k: call("torch.linalg.pinv", [f"{a[0]} @ {a[1]}.mT"], k),
    "linalg.lstsq.grad_oriented": lambda a, k: call("torch.linalg.lstsq", a, k) + "[:2]",
    "normal.number_mean": lambda a, k: call("torch.normal", [a[1], a[0], *a[2:]], k),
    "resize_": lambda a, k: call(f"{a[0]}.clone().resize_", a[1:], k),
    "resize_as_": lambda a, k: call(f"{a[0]}.clone().resize_as_", a[1:], k),
    "zero_": lambda a, k: call(f"{a[0]}.clone().zero_", a[1:], k),
}
PROPERTIES = {"T", "H", "mT", "mH"}
IN_PLACE_ONLY = {"normal.in_place": "normal_"}


class CannotWrite(Exception):
    """The reason why a sample cannot be written as code."""


def call(callee, positional, keywords):
    return f"{callee}({', '.join([*positional, *(f'{name}={value}' for name, value in keywords.items())])})"


# Values as source -----------------------------------------------------------------------------


def number(value):
    """Code that evaluates to a Python number."""
    if isinstance(value, complex):
        if all(map(math.isfinite, (value.real, value.imag))):
            return repr(value)
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def nested(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(nested, value)) + "]"
    return number(value)


def callables():
    """The names of functions that users pass as arguments, by identity."""
    named = {}
    for prefix, module in (("torch", torch), ("F", torch.nn.functional)):
        for name in sorted(dir(module)):
            value = getattr(module, name, None)
            if not name.startswith("_") and callable(value) and not isinstance(value, type):
                named[id(value)] = f"{prefix}.{name}"
    return named


CALLABLES = callables()


def remember_construction(classes):
    """Makes modules store the arguments of their constructor, so that a module can be written as an
    argument."""
    for module_class in classes:
        original = module_class.__init__

        def remembering(self, *arguments, original=original, made=module_class, **keywords):
            original(self, *arguments, **keywords)
            if type(self) is made:
                self.written_as = (f"torch.nn.{made.__name__}", arguments, keywords)

        module_class.__init__ = remembering


class Writer:
    """Writes the arguments of one sample: tensors become assignments before the call."""

    def __init__(self, prefix, form):
        self.prefix, self.form = prefix, form
        self.assignments = []
        self.names = {}

    def tensor(self, tensor):
        if id(tensor) in self.names:
            return self.names[id(tensor)]
        count = len(self.names)
        name = self.prefix + ("abcdefghijklmnopq"[count] if count < 17 else f"x{count}")
        source = self.tensor_source(tensor)
        if isinstance(tensor, torch.nn.Parameter):
            source = f"torch.nn.Parameter({source})"
        elif tensor.requires_grad and tensor.is_leaf:
            source = f"{source}.requires_grad_()"
        self.assignments.append(f"{name} = {source}")
        self.names[id(tensor)] = name
        return name

    def tensor_source(self, tensor):
        if tensor.layout is not torch.strided or tensor.is_nested:
            raise CannotWrite("sparse or nested tensor")
        if tensor.is_quantized:
            raise CannotWrite("quantised tensor")
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise CannotWrite("tensor subclass")
        device = ""
        if tensor.device.type == "meta":
            device = ', device="meta"'
        elif tensor.device.type != "cpu":
            raise CannotWrite("other device")
        shape, dtype = tuple(tensor.shape), tensor.dtype
        size = ", ".join(map(str, shape)) if len(shape) > 0 else "()"
        typed = "" if dtype is torch.float32 else f", dtype={dtype}"
        if tensor.numel() > 10**7:
            raise CannotWrite("tensor of more than ten million elements")
        if device:
            return f"torch.empty({size}{typed}{device})"
        if tensor.numel() == 0:
            return f"torch.zeros({size}{typed})"
        small = tensor.numel() <= MOST_LITERALS
        if dtype.is_floating_point or dtype.is_complex:
            drawn = dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128)
            if self.form == "plain":
                return f"torch.ones({size}{typed})"
            if self.form == "literal" and small and drawn:
                return f"torch.tensor({nested(tensor.tolist())}, dtype={dtype})"
            if self.form == "positive" and len(shape) >= 2 and shape[-1] == shape[-2]:
                eye = f"torch.eye({shape[-1]}{typed})"
                return eye if len(shape) == 2 else f"{eye}.repeat({', '.join(map(str, shape[:-2]))}, 1, 1)"
            maker = "rand" if self.form == "rand" else "randn"
            return f"torch.{maker}({size}{typed})" if drawn else f"torch.{maker}({size}).to({dtype})"
        if small:
            # an int64 or bool list needs no dtype
            written = "" if dtype in (torch.int64, torch.bool) else f", dtype={dtype}"
            return f"torch.tensor({nested(tensor.tolist())}{written})"
        if dtype is torch.bool:
            return f"torch.ones({size}, dtype=torch.bool)"
        low, high = int(tensor.min()), int(tensor.max()) + 1
        if low <= 0 < high - 1 and bool((tensor != 0).all()):
            low = 1  # a divisor
        written = "" if dtype is torch.int64 else f", dtype={dtype}"
        return f"torch.randint({low}, {high}, ({size}{',' if len(shape) == 1 else ''}){written})"

    def value(self, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if value is None or value is Ellipsis or isinstance(value, (bool, str)):
            return "..." if value is Ellipsis else repr(value) if not isinstance(value, str) else json.dumps(value)
        if type(value) in (int, float, complex):
            return number(value)
        if isinstance(value, numpy.generic):
            return number(value.item())
        if isinstance(value, torch.dtype):
            return repr(value)
        if isinstance(value, torch.device):
            return f'torch.device("{value}")'
        if isinstance(value, torch.layout):
            if value is not torch.strided:
                raise CannotWrite("sparse layout")
            return repr(value)
        if isinstance(value, torch.memory_format):
            return repr(value)
        if isinstance(value, slice):
            return "slice({}, {}, {})".format(*map(self.value, (value.start, value.stop, value.step)))
        if isinstance(value, (tuple, torch.Size)):
            return "(" + "".join(self.value(item) + ", " for item in value).rstrip(" ") + ")" if len(value) < 2 else "(" + ", ".join(map(self.value, value)) + ")"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.value, value)) + "]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in value.items()) + "}"
        if isinstance(value, range):
            return repr(value)
        if isinstance(value, torch.Generator):
            raise CannotWrite("generator")
        if isinstance(value, torch.nn.Module):
            return self.module(value)
        if callable(value):
            if id(value) in CALLABLES:
                return CALLABLES[id(value)]
            raise CannotWrite("callable without a name")
        raise CannotWrite(f"value of type {type(value).__name__}")

    def module(self, module):
        if not hasattr(module, "written_as"):
            raise CannotWrite("module as argument")
        name, arguments, keywords = module.written_as
        return call(name, list(map(self.value, arguments)), {k: self.value(v) for k, v in keywords.items()})

    def index(self, value):
        """`value` as the code inside a subscript."""
        if isinstance(value, tuple) and value:
            return ", ".join(map(self.index_item, value)) + ("," if len(value) == 1 else "")
        return self.index_item(value)

    def index_item(self, value):
        if isinstance(value, slice):
            parts = ["" if part is None else self.value(part) for part in (value.start, value.stop)]
            return ":".join(parts) + ("" if value.step is None else ":" + self.value(value.step))
        return self.value(value)


# Results --------------------------------------------------------------------------------------


def describe(value):
    """A description of a result, to compare it with a fact."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_nested:
            raise CannotWrite("sparse or nested result")
        if value.is_quantized:
            raise CannotWrite("quantised result")
        dtype = str(value.dtype).removeprefix("torch.")
        return {"kind": "tensor", "shape": list(value.shape), "dtype": dtype, "device": str(value.device)}
    if isinstance(value, (tuple, list)):
        return {"kind": "tuple", "items": [describe(item) for item in value]}
    if value is None:
        return {"kind": "none"}
    if isinstance(value, (bool, int)):
        return {"kind": type(value).__name__, "value": value}
    if isinstance(value, (float, complex, str, torch.dtype)):
        return {"kind": type(value).__name__}
    raise CannotWrite(f"result of type {type(value).__name__}")


def same(left, right):
    """Whether two descriptions agree; the values of numbers may differ because they are random."""
    if left["kind"] != right["kind"]:
        return False
    if left["kind"] == "tensor":
        return left == right
    if left["kind"] == "tuple":
        return len(left["items"]) == len(right["items"]) and all(map(same, left["items"], right["items"]))
    return True


def targets(description, name):
    """The left side of the assignment, and the value of each name in it."""
    if description["kind"] != "tuple" or not 0 < len(description["items"]) <= MOST_RESULTS:
        return name, {name: description}
    names = {}
    counter = iter(range(10_000))

    def pattern(node, outermost):
        if node["kind"] != "tuple" or not 0 < len(node["items"]) <= MOST_RESULTS:
            fresh = f"{name}{next(counter)}"
            names[fresh] = node
            return fresh
        parts = [pattern(item, False) for item in node["items"]]
        text = ", ".join(parts) + ("," if len(parts) == 1 else "")
        return text if outermost else f"({text})"

    return pattern(description, True), names


def run(lines, seed=0):
    """Runs source code and returns its namespace."""
    torch.manual_seed(seed)
    namespace = {}
    exec(compile(HEADER + "\n".join(lines), "<sample>", "exec"), namespace)
    return namespace


def settled(lines, name):
    """The value of a name after source code has run, if it does not depend on random numbers."""
    found = describe(run(lines)[name])
    if any(map(RANDOM.search, lines)) and not same(found, describe(run(lines, seed=1)[name])):
        raise ValueError("another result with another seed")
    return found


# Calls ----------------------------------------------------------------------------------------


def lookup(path):
    value = torch
    for part in path.split("."):
        value = getattr(value, part, None)
    return value if callable(value) and not isinstance(value, (torch.dtype, type)) else None


def spelled(path):
    """The path that users write: `F.…` or `torch.…`."""
    return "F." + path.removeprefix("nn.functional.") if path.startswith("nn.functional.") else "torch." + path


def function_call(op):
    """A function that writes the call of an operator with given arguments; raises CannotWrite if
    there is none."""
    full = f"{op.name}.{op.variant_test_name}"
    if full in SPELLINGS or op.name in SPELLINGS:
        return SPELLINGS.get(full) or SPELLINGS[op.name]
    if op.name in PROPERTIES:
        return lambda a, k: f"{a[0]}.{op.name}"
    if op.name.startswith("__r") and op.name.endswith("__"):
        symbol = {"div": "/", "and": "&", "or": "|", "pow": "**"}.get(op.name[3:-2]) or SYMBOLS.get(op.name[3:-2])
        return lambda a, k: f"{a[1]} {symbol} {a[0]}"
    if full in IN_PLACE_ONLY:
        return method_call(IN_PLACE_ONLY[full])
    if lookup(op.name):
        return lambda a, k: call(spelled(op.name), a, k)
    for name in (op.name, op.name + "_"):
        if callable(getattr(torch.Tensor, name, None)):
            return method_call(name)
    raise CannotWrite("no public spelling")


def method_call(name):
    return lambda a, k: call(f"{a[0]}.{name}", a[1:], k)


def variants(op):
    """The other ways to write an operator: (kind, call). A call returns None if it is not
    possible."""
    if op.name.startswith("__"):
        return
    if op.method_variant is not None and callable(getattr(torch.Tensor, op.name, None)):
        yield "method", method_call(op.name)
    if op.inplace_variant is not None and callable(getattr(torch.Tensor, op.name + "_", None)):
        yield "inplace", method_call(op.name + "_")
    symbol = getattr(op.operator_variant, "__name__", "")
    if symbol in SYMBOLS:
        yield "operator", lambda a, k: f"{a[0]} {SYMBOLS[symbol]} {a[1]}" if len(a) == 2 and not k else None
    elif symbol in UNARY:
        yield "operator", lambda a, k: UNARY[symbol].format(a[0]) if len(a) == 1 and not k else None
    symbol_ = getattr(op.inplace_operator_variant, "__name__", "")
    if symbol_ in SYMBOLS:
        yield "augmented", lambda a, k: (f"{a[0]} {SYMBOLS[symbol_]} {a[1]}", a[0]) if len(a) == 2 and not k else None
    for alias in op.aliases:
        path = alias.name.removeprefix("torch.")
        if lookup(path):
            yield "alias", lambda a, k, path=path: call(spelled(path), a, k)


# Output -------------------------------------------------------------------------------------


class Output:
    """The files of one run."""

    def __init__(self, directory):
        self.directory = directory
        self.records = []
        self.skips = collections.Counter()
        self.skipped_errors = collections.Counter()
        self.counts = collections.Counter()
        self.examples = collections.defaultdict(list)
        self.variants = collections.defaultdict(list)

    def skip(self, reason, example, errors=False):
        """Counts a sample that cannot be written as code, by the reason why not, and keeps it as an
        example for --explain."""
        reason = str(reason)
        (self.skipped_errors if errors else self.skips)[reason] += 1
        if example not in self.examples[reason]:
            self.examples[reason].append(example)

    def samples(self, group, name, written):
        """One file with every sample of an operator. `written`: (lines, record) pairs."""
        if not written:
            return
        path = f"{'ops' if group == 'op_db' else 'modules'}/{name}.py"
        text, line = [*HEADER.splitlines()], len(HEADER.splitlines())
        for lines, record in written:
            text += [*lines, ""]
            record = {"file": path, "group": group, "op": name, **record}
            record["line"], record["end_line"] = line + 1, line + len(lines)
            record["source"] = lines[-1]
            line += len(lines) + 1
            self.records.append(record)
            self.counts[f"{group} {record['variant']}"] += 1
        self.write(path, "\n".join(text))

    def error(self, group, name, number, lines, call_line, exception):
        path = f"errors/{name}/e{number}.py"
        self.write(path, HEADER + "\n".join(lines) + "\n")
        message = str(exception).strip().splitlines() or [""]
        self.records.append({
            "file": path, "group": group, "op": name.removesuffix("/variant"), "variant": "error",
            "line": len(HEADER.splitlines()) + call_line, "source": lines[call_line - 1],
            "exception": type(exception).__name__, "message": message[0][:300],
        })  # fmt: skip
        self.counts[f"{group} error"] += 1

    def rejected_variant(self, op, lines, call_line, exception):
        """A rejected call: the method or in-place form of a sample that PyTorch accepts as a
        function."""
        if any(lines == other for other in self.variants[op.formatted_name]):
            return
        self.variants[op.formatted_name].append(lines)
        name = re.sub(r"[^0-9A-Za-z_]", "_", op.formatted_name) + "/variant"
        self.error("variants", name, len(self.variants[op.formatted_name]) - 1, lines[:call_line], call_line, exception)

    def write(self, path, text):
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def finish(self):
        header = {"torch": torch.__version__.split("+")[0]}
        lines = [json.dumps(record, ensure_ascii=False) for record in [header, *self.records]]
        self.write("expected.jsonl", "\n".join(lines) + "\n")


def seed():
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)


def unlike(lines):
    """Code without the prefix of the names in it, to find equal samples."""
    return re.sub(r"\bs\d+_", "", "\n".join(lines))


def write_op_sample(op, sample, prefix):
    """Every form of one sample: (assignments, argument sources, keyword sources)."""
    written, seen = [], set()
    for form in FORMS:
        writer = Writer(prefix, form)
        if op.name == "__getitem__":
            subject, index = writer.value(sample.input), writer.index(sample.args[0])
            arguments, keywords = [subject, index], {}
        else:
            arguments = [writer.value(a) for a in (sample.input, *sample.args)]
            keywords = {name: writer.value(value) for name, value in sample.kwargs.items()}
        key = ("\n".join(writer.assignments), tuple(arguments))
        if key not in seen:
            seen.add(key)
            written.append((writer.assignments, arguments, keywords))
    return written


def samples_of_op(op, dtypes, limit, output):
    """The accepted samples of one operator."""
    try:
        spelling = (lambda a, k: f"{a[0]}[{a[1]}]") if op.name == "__getitem__" else function_call(op)
    except CannotWrite as reason:
        output.skip(f"operator: {reason}", op.formatted_name)
        return []
    written, seen, counter = [], set(), 0
    for dtype_name in dtypes:
        dtype = DTYPES[dtype_name]
        if dtype not in op.dtypes:
            continue
        seed()
        try:
            samples = list(op.sample_inputs("cpu", dtype))
        except Exception as error:
            output.skip(f"samples cannot be made ({type(error).__name__})", op.formatted_name)
            continue
        if limit:
            samples = samples[:: max(1, len(samples) // limit)][:limit]
        varied = 0
        for sample in samples:
            prefix = f"s{counter}_"
            try:
                forms = write_op_sample(op, sample, prefix)
                result = describe(op(sample.input, *sample.args, **sample.kwargs))
            except CannotWrite as reason:
                output.skip(str(reason), op.formatted_name)
                continue
            except Exception:
                output.skip("the database's own sample fails here", op.formatted_name)
                continue
            kept = None
            for assignments, arguments, keywords in forms:
                expression = spelling(arguments, keywords)
                lines = [*assignments, f"{prefix}r = {expression}"]
                if unlike(lines) in seen:
                    kept = "duplicate"
                    break
                try:
                    found = settled(lines, f"{prefix}r")
                except Exception:
                    continue
                if same(found, result):
                    kept = (assignments, arguments, keywords, expression)
                    break
            if kept is None:
                output.skip("source gives another result than the sample", f"{op.formatted_name}: {expression}")
                continue
            if kept == "duplicate":
                output.skip("same source as another sample", op.formatted_name)
                continue
            assignments, arguments, keywords, expression = kept
            seen.add(unlike([*assignments, f"{prefix}r = {expression}"]))
            left, names = targets(found, f"{prefix}r")
            lines = [*assignments, f"{left} = {expression}"]
            written.append((lines, {"sample": f"s{counter}", "variant": "function", "dtype": dtype_name, "names": names}))
            counter += 1
            if varied >= MOST_VARIANTS:
                continue
            varied += 1
            for kind, other in variants(op):
                renamed = f"s{counter}_"
                again = [re.sub(r"\bs\d+_", renamed, text) for text in assignments]
                expression = other(
                    [re.sub(r"\bs\d+_", renamed, text) for text in arguments],
                    {name: re.sub(r"\bs\d+_", renamed, text) for name, text in keywords.items()},
                )
                if expression is None or not (arguments[0].isidentifier() or kind == "alias" or kind == "operator"):
                    continue
                if isinstance(expression, tuple):
                    statement, expression = expression
                    if not expression.isidentifier():
                        continue
                    again.append(statement)
                if unlike([*again, expression]) in seen:
                    continue
                seen.add(unlike([*again, expression]))
                try:
                    found = describe(run([*again, f"{renamed}r = {expression}"])[f"{renamed}r"])
                except Exception as exception:
                    statements = [text.replace(renamed, "") for text in [*again, f"{renamed}r = {expression}"]]
                    output.rejected_variant(op, statements, len(again) + (kind != "augmented"), exception)
                    continue
                left, names = targets(found, f"{renamed}r")
                record = {"sample": f"s{counter}", "variant": kind, "dtype": dtype_name, "names": names}
                written.append(([*again, f"{left} = {expression}"], record))
                counter += 1
    return written


def errors_of_op(op, name, output):
    """The rejected calls of one operator."""
    if op.error_inputs_func is None:
        return
    try:
        spelling = (lambda a, k: f"{a[0]}[{a[1]}]") if op.name == "__getitem__" else function_call(op)
    except CannotWrite as reason:
        output.skip(f"operator: {reason}", name, errors=True)
        return
    seed()
    try:
        errors = list(op.error_inputs("cpu"))
    except Exception as error:
        output.skip(f"error inputs cannot be made ({type(error).__name__})", name, errors=True)
        return
    number, seen = 0, set()
    for error in errors:
        try:
            forms = write_op_sample(op, error.sample_input, "")
        except CannotWrite as reason:
            output.skip(str(reason), name, errors=True)
            continue
        candidates = []
        for assignments, arguments, keywords in forms:
            candidates.append([*assignments, f"r = {spelling(arguments, keywords)}"])
        number += keep_error(output, "op_db", name, number, candidates, None, error, seen)


def keep_error(output, group, name, number, candidates, call_line, error, seen):
    """Writes the first form that raises the expected exception; if no message matches the database, the
    first form that raises an exception of the expected type. Returns 1 if there is one."""
    fallback, accepted = None, False
    for lines in candidates:
        try:
            run(lines)
            accepted = True
            continue
        except Exception as exception:
            if not isinstance(exception, error.error_type):
                continue
            try:
                run(lines[: (call_line or len(lines)) - 1])
            except Exception:
                continue  # creating an argument fails, not the call
            if re.search(error.error_regex, str(exception)):
                fallback = (lines, exception)
                break
            fallback = fallback or (lines, exception)
    if fallback is None:
        output.skip("source is accepted" if accepted else "source raises something else", f"{name}: {candidates[0][-1] if call_line is None else candidates[0][call_line - 1]}", errors=True)
        return 0
    lines, exception = fallback
    if "\n".join(lines) in seen:
        output.skip("same source as another error input", f"{name}: {candidates[0][-1] if call_line is None else candidates[0][call_line - 1]}", errors=True)
        return 0
    seen.add("\n".join(lines))
    output.error(group, name, number, lines, call_line or len(lines), exception)
    return 1


# Modules --------------------------------------------------------------------------------------


def module_lines(info, sample, prefix, form, training):
    """The source of one module sample: construction, then the call."""
    writer = Writer(prefix, form)
    made = call(
        f"torch.{info.name}",
        [writer.value(a) for a in sample.constructor_input.args],
        {k: writer.value(v) for k, v in sample.constructor_input.kwargs.items()},
    )
    construction = [*writer.assignments, f"{prefix}m = {made}"]
    if not training:
        construction.append(f"{prefix}m.eval()")
    writer.assignments = []
    if sample.forward_input is None:
        return construction, None, []
    expression = call(
        f"{prefix}m",
        [writer.value(a) for a in sample.forward_input.args],
        {k: writer.value(v) for k, v in sample.forward_input.kwargs.items()},
    )
    return construction, expression, writer.assignments


def samples_of_module(info, limit, output):
    written, seen, counter = [], set(), 0
    if not hasattr(torch.nn, info.module_cls.__name__):
        output.skip("module: no public name", info.name)
        return []
    if torch.float32 not in info.dtypes:
        output.skip("module: no float32", info.name)
        return []
    for training in (True, False):
        seed()
        try:
            samples = list(info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training))
        except Exception as error:
            output.skip(f"module samples cannot be made ({type(error).__name__})", info.name)
            continue
        if limit:
            samples = samples[:limit]
        evaluated = 0
        for sample in samples:
            prefix = f"s{counter}_"
            if not training and evaluated >= MOST_VARIANTS:
                output.skip("module: further samples in eval mode", info.name)
                continue
            try:
                forms = [module_lines(info, sample, prefix, form, training) for form in FORMS]
                module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
                module.train(training)
                if sample.forward_input is None:
                    output.skip("module: no forward input", info.name)
                    continue
                result = describe(module(*sample.forward_input.args, **sample.forward_input.kwargs))
            except CannotWrite as reason:
                output.skip(f"module: {reason}", info.name)
                continue
            except Exception:
                output.skip("module: the database's own sample fails here", info.name)
                continue
            outcome = "module: source gives another result than the sample"
            for construction, expression, assignments in forms:
                lines = [*construction, *assignments]
                if unlike([*lines, expression]) in seen:
                    outcome = "module: same source as another sample"
                    break
                try:
                    found = settled([*lines, f"{prefix}r = {expression}"], f"{prefix}r")
                except Exception:
                    continue
                if same(found, result):
                    outcome = None
                    break
            if outcome:
                output.skip(outcome, f"{info.name}: {expression}")
                continue
            seen.add(unlike([*lines, expression]))
            left, names = targets(found, f"{prefix}r")
            record = {"sample": f"s{counter}", "variant": "module" if training else "module.eval", "dtype": "float32", "names": names}
            written.append(([*lines, f"{left} = {expression}"], record))
            counter += 1
            evaluated += not training
    return written


def errors_of_module(info, name, output):
    if info.module_error_inputs_func is None:
        return
    number, seen = 0, set()
    for training in (True, False):
        seed()
        errors = info.module_error_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training)
        for error in errors:
            candidates, call_line = [], None
            constructing = "CONSTRUCTION" in str(error.error_on)
            try:
                for form in FORMS:
                    construction, expression, assignments = module_lines(info, error.module_error_input, "", form, training)
                    if constructing:
                        construction = [line for line in construction if line != "m.eval()"]
                        candidates.append(construction)
                    else:
                        candidates.append([*construction, *assignments, f"r = {expression}"])
            except CannotWrite as reason:
                output.skip(f"module: {reason}", name, errors=True)
                continue
            number += keep_error(output, "module_db", name, number, candidates, call_line, error, seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="folder for the results; the results of an earlier run in it are removed")
    parser.add_argument("--only", nargs="*", default=[], help="only operators and modules whose name contains one of these")
    parser.add_argument("--explain", action="store_true", help="list samples that cannot be written as code")
    parser.add_argument("--limit", type=int, default=0, help="largest number of samples per operator and dtype (0: no limit)")
    parser.add_argument("--dtype", nargs="*", choices=sorted(DTYPES), default=list(DTYPES))
    options = parser.parse_args()

    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    warnings.simplefilter("ignore")
    remember_construction([torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer, torch.nn.LayerNorm])
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)  # for torch.empty
    if (options.directory / "expected.jsonl").exists():
        for part in ("ops", "modules", "errors"):
            shutil.rmtree(options.directory / part, ignore_errors=True)
    output = Output(options.directory)
    wanted = lambda name: not options.only or any(part in name for part in options.only)

    reached = collections.Counter()
    for op in op_db:
        if not wanted(op.name):
            continue
        name = re.sub(r"[^0-9A-Za-z_]", "_", op.formatted_name)
        if re.search(r"(^|\.)_(?!_)|jiterator|ops\.aten|_refs|nvprims", op.name):
            output.skip("operator: private", name)
            continue
        with torch.no_grad():
            written = samples_of_op(op, options.dtype, options.limit, output)
        output.samples("op_db", name, written)
        reached["op_db"] += bool(written)
        errors_of_op(op, name, output)
    for info in module_db:
        name = re.sub(r"[^0-9A-Za-z_]", "_", info.formatted_name)
        if not wanted(info.name):
            continue
        if info.name.startswith("nn.quantized") or ".quantized" in info.name or info.name.startswith("ao."):
            output.skip("module: quantised", name)
            continue
        with torch.no_grad():
            written = samples_of_module(info, options.limit, output)
        output.samples("module_db", name, written)
        reached["module_db"] += bool(written)
        errors_of_module(info, name, output)
    output.finish()

    print(f"operators with samples: {reached['op_db']} of {len(op_db)}; modules: {reached['module_db']} of {len(module_db)}")
    for kind, count in sorted(output.counts.items()):
        print(f"{count:7} {kind}")
    tensors = sum(any(v["kind"] in ("tensor", "tuple") for v in r.get("names", {}).values()) for r in output.records)
    print(f"{tensors:7} samples with tensor results")
    for title, skips in (("skipped samples", output.skips), ("skipped error inputs", output.skipped_errors)):
        print(f"{title}: {sum(skips.values())}")
        for reason, count in sorted(skips.items(), key=lambda item: (-item[1], item[0])):
            print(f"{count:7} {reason}")
            for example in output.examples[reason][:40] if options.explain else ():
                print(f"          {example}")
    return 0


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # some samples iterate over sets
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
