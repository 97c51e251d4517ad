"""Checks tests/semantics/*.md with PyTorch: each block runs, and each reveal must be true.

    python tests/semantics_run.py [part of a file's name, or FILE:LINE ...] [--show] [--torchvet BINARY]

tests/semantics.rs explains the marks. A reveal is true if it allows every value that its line
assigns: `int in 0 to 2` allows 1, `float32[] in 0 to 1` allows NaN (which a range never excludes),
a named dimension allows any size, and `unknown` allows any value. If `never` is revealed, no run may
reach the line; otherwise, at least one run must reach it. A line marked with an error must raise,
unless the rule's harm is silent. Other lines must not raise.

A block that uses the file "a" or "b" or the environment variable FLAG runs with and without each of
those that it uses. `python static` blocks are not run; `python cuda` blocks are not run without a
GPU. With --torchvet, the facts that this binary prints are also compared with the runs, whether they
are revealed or not, except facts about the content of lists, sets and dicts.
"""

import argparse
import ast
import builtins
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "conformance")]
sys.dont_write_bytecode = True

import forks  # noqa: E402
from corpus_run import EXPECTED, SILENT  # noqa: E402
from trace import OBSERVE, Instrument  # noqa: E402

PRELUDE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"
REVEAL = re.compile(r"# reveal: (.*?)\s*(?:  # .*)?$")
# If a block contains one of these texts, it uses this part of the environment: a file or a variable.
SETTINGS = {'exists("a")': "a", 'exists("b")': "b", '"FLAG"': "FLAG"}
TIMEOUT = 60


# Facts as tests ------------------------------------------------------------------------------


class Reader:
    """Parses a fact of `torchvet facts` into a function that tests values."""

    TOKEN = re.compile(
        r"""\s*(?:
        (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<tensor>(?P<dtype>[a-z]+\d*)\[(?P<shape>[^\]\[]*)\](?:\ (?P<device>cpu|cuda(?::\d+)?|mps|xpu|meta|numpy)\b)?
            (?:\ with\ (?P<met>-?[\w.]+))?(?:\ in\ (?P<range>RANGE))?(?:\ \((?P<role>[a-z-]+)\))?)
      | (?P<ranged>(?P<kind>int|float)\ in\ (?P<bounds>RANGE))
      | device\((?P<where>[\w:]+)\)
      | torch\.(?P<type>bool|complex\d+|u?int\d+|b?float\d+\w*)(?!\w)
      | (?P<named>function|class)\ (?P<name>\w+)
      | (?P<instance>[\w.]+)\(…\)
      | (?P<iterator>iter)\(
      | (?P<partial>partial)\(
      | (?P<number>-?(?:\d[\d.]*(?:e[-+]?\d+)?|inf|NaN)(?![\w*+-]))
      | (?P<size>[-\d]*[\w.]*[A-Za-z][\w.]*(?:[-+*][\w.]+)*|[\d*]+[\w.+*-]+)
      | (?P<mark>[\[\](){},:…]|\.\.\.)
        )""".replace("RANGE", r"-?[\w.]+(?:\ to\ -?[\w.]+)?(?:(?:,\ -?[\w.]+(?:\ to\ -?[\w.]+)?)*\ and\ -?[\w.]+(?:\ to\ -?[\w.]+)?)?"),
        re.VERBOSE,
    )
    TYPES = {"bool": bool, "int": int, "float": float, "complex": complex, "str": str, "bytes": bytes, "module": types.ModuleType}

    def __init__(self, text):
        self.text, self.at = text, 0

    def read(self):
        test = self.value()
        if self.text[self.at :].strip():
            raise SyntaxError(f"{self.text!r} is not a fact: {self.text[self.at :]!r} follows it")
        return test

    def peek(self):
        match = self.TOKEN.match(self.text, self.at)
        if match is None:
            raise SyntaxError(f"{self.text!r} is not a fact: cannot parse {self.text[self.at :]!r}")
        return match

    def value(self):
        token = self.peek()
        self.at = token.end()
        if token["string"]:
            string = ast.literal_eval(re.sub(r"\\u\{(\w+)\}", lambda m: f"\\U{m[1]:>08}", token["string"]))
            return lambda value: type(value) is str and value == string
        if token["tensor"]:
            return self.tensor(token)
        if token["ranged"]:
            kind, parts = self.TYPES[token["kind"]], bounds(token["bounds"])
            return lambda value: type(value) is kind and (value != value or any(lo <= value <= hi for lo, hi in parts))
        if token["where"]:
            return lambda value: is_a(value, "device") and str(value).startswith(token["where"])
        if token["type"]:
            return lambda value: str(value) == f"torch.{token['type']}"
        if token["named"]:
            kinds = {"function": (types.FunctionType,), "class": (type,)}[token["named"]]
            return lambda value: isinstance(value, kinds) and value.__name__ == token["name"]
        if token["instance"]:
            return lambda value: is_a(value, token["instance"].split(".")[-1])
        if token["partial"]:
            self.rest(")")
            return lambda value: is_a(value, "partial")
        if token["iterator"]:
            self.rest(")")
            return lambda value: hasattr(value, "__iter__")  # or any sequence of unknown length
        if token["number"]:
            number = float(token["number"]) if re.search(r"[.naf]|e", token["number"]) else int(token["number"])
            return lambda value: type(value) is type(number) and (value == number or value != value and number != number)
        if token["size"]:
            return self.word(token["size"])
        return self.container(token["mark"])

    def word(self, word):
        if word in ("unknown", "object"):
            return lambda value: True
        if word in ("None", "True", "False"):
            return lambda value: value is {"None": None, "True": True, "False": False}[word]
        if word in self.TYPES:
            return lambda value: type(value) is self.TYPES[word] or isinstance(value, types.ModuleType) and word == "module"
        return lambda value: type(value) is int or callable(value)  # a size, or the path of a library function

    def rest(self, close):
        """Skips the text up to the closing parenthesis."""
        depth = 1
        while depth:
            character = self.text[self.at]
            depth += (character == "(") - (character == ")")
            self.at += 1

    def container(self, mark):
        if mark == "...":
            return lambda value: value is ...
        if mark not in "[({":
            raise SyntaxError(f"{self.text!r} is not a fact: cannot parse {mark!r}")
        close, kind = {"[": ("]", list), "(": (")", tuple), "{": ("}", (set, frozenset, dict))}[mark]
        items, values, is_open, is_dict = [], [], False, False
        while self.peek()["mark"] != close:
            if self.peek()["mark"] == "…":
                self.at, is_open = self.peek().end(), True
            else:
                items.append(self.value())
            if self.peek()["mark"] == ":":
                self.at, is_dict = self.peek().end(), True
                values.append(self.value())
            if self.peek()["mark"] == ",":
                self.at = self.peek().end()
        self.at = self.peek().end()

        def test(value):
            if not isinstance(value, kind):
                return False
            if kind is list or kind is tuple:
                if is_open and len(items) == 1:  # every element must pass this test
                    return all(map(items[0], value))
                return (is_open and len(value) >= len(items) or len(value) == len(items)) and all(t(v) for t, v in zip(items, value))
            if isinstance(value, dict) and (is_dict or not items):
                fits = [any(k(key) and v(entry) for key, entry in value.items()) for k, v in zip(items, values)]
                return all(fits) and (is_open or len(value) == len(items))
            return not is_dict and (is_open or len(value) == len(items)) and all(any(map(t, value)) for t in items)

        return test

    @staticmethod
    def tensor(token):
        import numpy
        import torch

        # In a shape of unknown rank, "…" is followed by the last dimensions.
        is_open = token["shape"].startswith("…")
        dims = [part for part in token["shape"].removeprefix("…").split(", ") if part]
        parts = bounds(token["range"]) if token["range"] else None

        def test(value):
            is_array = isinstance(value, (numpy.ndarray, numpy.generic))
            if not (is_array or isinstance(value, torch.Tensor)) or is_array != (token["device"] == "numpy"):
                return False
            shape = value.shape[max(len(value.shape) - len(dims), 0) :] if is_open else value.shape
            if len(dims) != len(shape) or any(d.lstrip("-").isdigit() and int(d) != s for d, s in zip(dims, shape)):
                return False
            if token["dtype"] not in ("tensor", str(value.dtype).removeprefix("torch.")):
                return False
            if not is_array and token["device"] and str(value.device).split(":")[0] != token["device"].split(":")[0]:
                return False
            if parts is None or not is_array and value.is_meta:
                return True
            elements = value.tolist() if is_array else value.detach().to_dense().double().flatten().tolist()
            elements = numpy.asarray(elements).flatten().tolist() if is_array else elements
            # A range says nothing about NaN.
            return all(e != e or any(lo <= e <= hi for lo, hi in parts) for e in elements)

        return test


def bounds(text):
    parts = [part.split(" to ") for part in re.split(r", | and ", text)]
    slack = 1e-5  # a range is computed in float64, its tensor mostly in float32
    return [(float(part[0]) - slack * abs(float(part[0])), float(part[-1]) + slack * abs(float(part[-1]))) for part in parts]


def is_a(value, name):
    return any(name in (kind.__name__, "object") for kind in type(value).__mro__)


def fits(text, value):
    if isinstance(value, types.ModuleType) and text != "unknown":
        return text == value.__name__
    return Reader(text).read()(value)


# Blocks --------------------------------------------------------------------------------------


class Block:
    def __init__(self, path, row, info, source):
        self.path, self.row, self.info, self.source = path, row, info, source
        self.name = f"{path.parent.name}/{path.name}:{row}"
        imports = re.search(r"^\s*(import|from) ", source, re.MULTILINE)
        self.prelude = "" if imports else PRELUDE
        lines = list(enumerate(source.split("\n"), row))
        self.reveals = {number: REVEAL.search(line)[1] for number, line in lines if REVEAL.search(line)}
        self.errors = {}
        for number, line in lines:
            for severity, codes in EXPECTED.findall(line):
                if severity == "error":
                    self.errors.setdefault(number, set()).update(re.split(r"\s*,\s*", codes))

    def program(self):
        """The text, with the line numbers of the page."""
        return "\n" * (self.row - 1) + self.source

    def settings(self):
        """The environments to run the block in: every combination of the parts that it uses."""
        asked = [setting for mark, setting in SETTINGS.items() if mark in self.source]
        for made in itertools.product([False, True], repeat=len(asked)):
            yield [setting for setting, on in zip(asked, made) if on]


def blocks_of(path):
    row, info, lines = None, "", []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if row is None and line.startswith("```python"):
            row, info, lines = number + 1, line.removeprefix("```python").strip(), []
        elif row is not None and line == "```":
            yield Block(path, row, info, "\n".join(lines) + "\n")
            row = None
        elif row is not None:
            lines.append(line)


# Running -------------------------------------------------------------------------------------


class Judge:
    """Compares the assigned values with the facts while the block runs."""

    def __init__(self, block, facts):
        self.block, self.facts = block, facts
        self.faults, self.reached, self.shown = [], set(), []
        self.tests = {}  # (row, name) -> the tests, with their texts
        names = {}
        for row, column, name in assigned(block):
            names.setdefault(row, []).append(name)
        for row, text in block.reveals.items():
            here, texts = names.get(row, []), text.split("; ")
            if text == "never":
                texts = ["never"] * len(here)
            if not here or len(here) != len(texts):
                self.faults.append(f"line {row}: {len(texts)} reveals for {len(here)} names")
            for name, said in zip(here, texts):
                self.tests.setdefault((row, name), []).append(("revealed", said))
        for (row, name), text in facts.items():
            self.tests.setdefault((row, name), []).append(("torchvet", text))
        self.lists = []

    def observe(self, site, value):
        _, _, row, _, name = site
        self.reached.add(row)
        for who, text in self.tests.get((row, name), ()):
            if who == "revealed":
                self.shown.append(f"line {row}: {name} = {shown(value)}, {who} as {text}")
                if isinstance(value, (list, set, dict)):
                    self.lists.append((row, name, value, repr(value)))
            try:
                good = text != "never" and fits(text, value)
            except SyntaxError as error:
                good = who == "torchvet"
                if not good:
                    self.faults.append(f"line {row}: {error}")
                    continue
            if not good:
                if who == "torchvet" and isinstance(value, (list, set, dict)):
                    continue  # the fact describes the final content of the collection
                self.faults.append(f"line {row}: {name} is {shown(value)}, {who} {'says' if who == 'torchvet' else 'as'} {text}")

    def end(self):
        for row, name, value, text in self.lists:
            if repr(value) != text:
                self.faults.append(f"line {row}: {name} changes later: reveal a tuple of it")


def assigned(block):
    """(row, column, name) of every assignment that is observed."""
    sites = []

    class Collect(Instrument):
        def notes(self, statement, target_nodes, last_row):
            for target in target_nodes:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        sites.append((statement.lineno, node.col_offset, node.id))
            return []

    Collect("", None).visit(ast.parse(block.program()))
    return sorted(sites)


def shown(value):
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        place = value.device if hasattr(value, "detach") else "numpy"
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)} {place}"
    return repr(value)[:200]


def execute(block, made, facts):
    """Runs a block in this process; returns the faults, the rows that were reached, and the text to
    show."""
    judge = Judge(block, facts)
    setattr(builtins, OBSERVE, judge.observe)
    os.environ.pop("FLAG", None)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    raised = None
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for setting in made:
            if setting == "FLAG":
                os.environ["FLAG"] = "1"
            else:
                pathlib.Path(setting).touch()
        name = str(block.path)
        try:
            exec(block.prelude, main.__dict__)
            tree = Instrument(name, None).visit(ast.parse(block.program(), name))
            exec(compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True), main.__dict__)
        except SystemExit:
            pass
        except BaseException as error:  # any exception is the result
            rows = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
            raised = rows[-1] if rows else 0
            if raised not in block.errors:
                judge.faults.append(f"line {raised}: {type(error).__name__}: {str(error).splitlines()[:1]}")
        os.chdir("/")
    judge.end()
    return {"faults": judge.faults, "reached": sorted(judge.reached), "shown": judge.shown, "raised": raised}


def run(block, made, facts):
    """Runs `execute` in a fork, without output."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        signal.alarm(TIMEOUT)
        try:
            answer = json.dumps(execute(block, made, facts)).encode()
            with os.fdopen(write, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return json.loads(answer) if answer else {"faults": [f"killed (status {status})"], "reached": [], "shown": [], "raised": None}


def judge(block, facts):
    """The faults of a block in all its runs, and the text to show."""
    faults, reached, shown, raised = [], set(), [], set()
    for made in block.settings():
        with_what = f" (with {', '.join(made)})" if made else ""
        answer = run(block, made, facts)
        faults += [fault + with_what for fault in answer["faults"]]
        shown += [line + with_what for line in answer["shown"]]
        reached.update(answer["reached"])
        raised.add(answer["raised"])
    for row, text in block.reveals.items():
        if row not in reached and text != "never":
            faults.append(f"line {row}: never reached, but its reveal is {text}")
    for row, codes in block.errors.items():
        if row not in raised and not codes & SILENT:
            faults.append(f"line {row}: does not raise")
    return list(dict.fromkeys(faults)), shown


def facts_of(torchvet, blocks):
    """Block -> {(row on the page, name): fact}, without names that a line binds twice."""
    with tempfile.TemporaryDirectory() as folder:
        for number, block in enumerate(blocks):
            pathlib.Path(folder, f"{number}.py").write_text(block.prelude + block.source, encoding="utf-8")
        command = [str(torchvet.resolve()), "facts", "--isolated", "--quiet", "."]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=folder)
    if done.returncode > 1:
        sys.exit(done.stderr)
    found = {block: {} for block in blocks}
    for line in done.stdout.splitlines():
        number, row, name, text = re.match(r"(?:\./)?(\d+)\.py:(\d+): (\S+) = (.*)$", line).groups()
        block = blocks[int(number)]
        row = int(row) - block.prelude.count("\n") + block.row - 1
        found[block][row, name] = "unknown" if (row, name) in found[block] else text
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="part of a file's name, or FILE:LINE of a block")
    parser.add_argument("--show", action="store_true", help="print each value and its reveal")
    parser.add_argument("--torchvet", type=pathlib.Path, help="a torchvet binary, whose facts are also compared with the runs")
    options = parser.parse_args()

    warnings.filterwarnings("ignore")
    forks.import_once()
    command = [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"]  # CUDA does not survive a fork
    has_cuda = subprocess.run(command, capture_output=True, text=True).stdout.strip() == "True"

    blocks = [block for path in sorted((HERE / "semantics").glob("*.md")) for block in blocks_of(path)]
    if options.only:
        blocks = [block for block in blocks if any(part in block.name for part in options.only)]
    facts = facts_of(options.torchvet, blocks) if options.torchvet else {}
    passed = failed = left_out = 0
    for block in blocks:
        if block.info == "static" or block.info == "cuda" and not has_cuda:
            left_out += 1
            continue
        faults, shown = judge(block, facts.get(block, {}))
        for line in shown if options.show else []:
            print(f"{block.name}: {line}")
        for fault in faults:
            print(f"FAILED {block.name}: {fault}", flush=True)
        passed, failed = passed + (not faults), failed + bool(faults)
    if left_out:
        print(f"{left_out} blocks were not run: they need a GPU, or are marked `static`")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
