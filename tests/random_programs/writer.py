"""Writes a random program statement by statement, and executes each statement immediately.

So the writer knows the value of every name, and can discard most statements that raise. The body of
a compound statement is executed as if its branch were taken. Afterwards, the program so far runs
again from the beginning, which gives the real state.
"""

import contextlib
import os
import random
import re
import signal
import types

import numpy as np
import torch

import lines

PREAMBLE = [
    "import collections",
    "import contextlib",
    "import copy",
    "import functools",
    "import itertools",
    "import math",
    "import os",
    "import random",
    "import numpy as np",
    "import torch",
    "import torch.nn as nn",
    "import torch.nn.functional as F",
    'R = int(os.environ["DATA"])',
    'Pair = collections.namedtuple("Pair", "left right")',
]
DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
NUMPY_DTYPES = "np.float32 np.float64 np.int64 np.int32 np.uint8 bool float int".split()
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
PLACEHOLDER = re.compile(r"\$([a-z]+\d*)")
MOST_ELEMENTS = 4000
# This gives `torch.empty` the same content each time.
torch.use_deterministic_algorithms(True, warn_only=True)
MOST_NUMBER = 10**4
SECONDS = 1


class OutOfTime(BaseException):
    pass


class Rejected(Exception):
    """A statement cannot be written: it raises, or there is no value for a part of it."""


class Raised(Exception):
    """The program ends here with an exception, which is kept."""


def out_of_time(*_):
    raise OutOfTime


@contextlib.contextmanager
def in_time(seconds=SECONDS):
    """Raises `OutOfTime` if the block takes longer than this, and then again and again, because a
    `continue` in a `finally` discards the exception."""
    signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def seed_all(data):
    os.environ["DATA"] = str(data)
    random.seed(data)
    np.random.seed(data)
    torch.default_generator.manual_seed(data)  # the fast part of `torch.manual_seed`
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)


def is_sane(value):
    """Whether a value is small enough to use."""
    if isinstance(value, torch.Tensor):
        return value.numel() <= MOST_ELEMENTS
    if isinstance(value, (int, float)):
        return abs(value) < MOST_NUMBER
    if isinstance(value, (str, list, tuple, dict, set)):
        return len(value) < 200
    return True


def is_plain_list(value):
    return type(value) is list and not any(isinstance(item, torch.Tensor) for item in value)


KINDS = {
    "t": lambda v: isinstance(v, torch.Tensor),
    "w": lambda v: isinstance(v, torch.Tensor),
    "f": lambda v: isinstance(v, torch.Tensor) and v.dtype in FLOATS,
    "i": lambda v: (
        isinstance(v, torch.Tensor)
        and not v.is_floating_point()
        and not v.is_complex()
        and v.dtype != torch.bool
    ),
    "b": lambda v: isinstance(v, torch.Tensor) and v.dtype == torch.bool,
    "a": lambda v: isinstance(v, np.ndarray),
    "m": lambda v: type(v) is int,
    "q": lambda v: type(v) is bool,
    "s": lambda v: type(v) is str,
    "xs": is_plain_list,
    "ts": lambda v: type(v) is list and v and all(isinstance(item, torch.Tensor) for item in v),
    "tu": lambda v: isinstance(v, tuple) and not isinstance(v, torch.Size),
    "di": lambda v: isinstance(v, dict),
    "st": lambda v: type(v) is set,
    "any": lambda v: True,
}


class Writer:
    """The program so far, and its namespace."""

    def __init__(self, rng, without, skip):
        self.rng = rng
        self.without = without
        self.skip = re.compile(skip) if skip else None
        self.texts = []  # the lines after the preamble
        self.indent = 0
        self.compiled = []  # the top-level statements, to be run again
        self.names = []  # names that statements may use
        self.frozen = set()  # names that statements must not bind again
        self.count = 0
        self.classes = {}  # name -> {method: argument text}
        self.functions = {}  # name -> argument templates
        self.in_function = self.in_loop = 0
        self.ns = {"__name__": "__main__"}
        seed_all(0)
        for text in PREAMBLE:
            self.compiled.append(compile(text, "<written>", "exec"))
            exec(self.compiled[-1], self.ns)
        self.hidden = set(self.ns) - {"R"}
        self.names.append("R")
        self.frozen.add("R")

    def source(self):
        text = "\n".join(self.texts)
        used = set(re.findall(r"\w+", text))
        preamble = [line for line in PREAMBLE if used & set(re.findall(r"\w+$|^\w+", line)) - {"import"}]
        needed = {"os": "import os", "collections": "import collections"}
        first = [
            line
            for name, line in needed.items()
            if any(name + "." in kept for kept in preamble) and line not in preamble
        ]
        return "\n".join([*first, *preamble, text]) + "\n"

    # Choosing ---------------------------------------------------------------------------------

    def on(self, feature):
        return feature not in self.without

    def skipped(self, template):
        return self.skip is not None and self.skip.search(template) is not None

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, kind, apart=()):
        """A name whose value has this kind; later names are chosen more often."""
        test = KINDS[kind]
        found = [name for name in self.names if name not in apart and name in self.ns and test(self.ns[name])]
        if not found:
            raise Rejected(kind)
        if kind == "w":  # a tensor that shares its elements with another
            views = [name for name in found if self.ns[name]._is_view()]
            found = views if views and self.chance(0.6) else found
        weights = range(2, len(found) + 2)
        return self.rng.choices(found, weights)[0]

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def target(self):
        """A new name, or an existing one that is bound again."""
        if self.chance(0.15 + 0.15 * (self.indent > 0)):
            free = [name for name in self.names if name not in self.frozen and name.startswith("v")]
            if free:
                return self.rng.choice(free)
        return self.fresh()

    def number(self):
        return self.rng.choice(["0", "1", "2", "3", "-1", "-2", "5", "7", "0.5", "1.5", "-2.5", "10"])

    def value(self):
        roll = self.rng.random()
        if roll < 0.5:
            return self.number()
        if roll < 0.6:
            return self.rng.choice(["None", "True", "False", '"ab"', '"a"', "[1, 2]", "(1, 2)", "[]"])
        try:
            return self.pick("any")
        except Rejected:
            return self.number()

    def part(self, kind, line):
        rng = self.rng
        if kind in ("c",):
            return self.number()
        if kind == "k":
            return str(rng.choice([0, 0, 1, 1, -1, 2, -2, 3]))
        if kind == "n":
            return str(rng.randint(1, 4))
        if kind == "x":
            return self.pick("m", line.values()) if self.chance(0.6) else self.number()
        if kind == "q":
            return self.pick("q") if self.chance(0.4) else self.condition(simple=True)
        if kind == "cond":
            return self.condition()
        if kind == "key":
            return rng.choice(['"a"', '"b"', '"a"', '"c"', "1", "2"])
        if kind == "v":
            return self.value()
        if kind == "dtype":
            return "torch." + rng.choice(DTYPES)
        if kind == "npdtype":
            return rng.choice(NUMPY_DTYPES)
        if kind == "shape":
            sizes = [str(rng.choice([1, 2, 2, 3, 3, 4])) for _ in range(rng.choice([1, 1, 2, 2, 2, 3]))]
            if self.chance(0.1):
                sizes[0] = self.pick("m")
            return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
        first = next(
            (self.ns[name] for name in line.values() if isinstance(self.ns.get(name), torch.Tensor)), None
        )
        if kind in ("d", "e"):
            rank = first.dim() if first is not None else 1
            return str(rng.randint(-rank, max(rank - 1, 0))) if self.chance(0.97) else str(rank)
        if kind == "reshape":
            return self.reshape(first)
        if kind == "u":
            if first is None:
                raise Rejected(kind)
            alike = [
                n
                for n in self.names
                if isinstance(self.ns.get(n), torch.Tensor) and self.ns[n].shape == first.shape
            ]
            return rng.choice(alike)
        if kind == "new":
            return self.target()
        return self.pick(kind, line.values() if kind != "any" else ())

    def reshape(self, tensor):
        """A shape with the same number of elements, possibly with a -1."""
        left, sizes = tensor.numel() if tensor is not None else 1, []
        for _ in range(self.rng.randint(1, 3)):
            divisors = [n for n in range(1, min(left, 12) + 1) if left and left % n == 0]
            sizes.append(self.rng.choice(divisors or [0]))
            left //= max(sizes[-1], 1)
        sizes[-1] *= max(left, 1)
        self.rng.shuffle(sizes)
        if self.chance(0.3):
            sizes[self.rng.randrange(len(sizes))] = -1
        return ", ".join(map(str, sizes))

    def fill(self, template):
        """The template's text, and the names that it binds."""
        line, new = {}, []

        def replace(found):
            word = found[1]
            if word not in line:
                line[word] = self.part(word.rstrip("0123456789"), line)
                if word.startswith("new"):
                    new.append(line[word])
            return line[word]

        return PLACEHOLDER.sub(replace, template), new

    def condition(self, simple=False):
        """A condition that mostly depends on data, so static analysis cannot decide it."""
        data = [
            "R > 0",
            "R == 1",
            "R % 2 == 0",
            "R",
            "not R",
            "random.random() < 0.5",
            "torch.rand(1).item() > 0.5",
            "torch.rand(()) > 0.5",
            "R in (0, 2)",
            "np.random.rand() < 0.5",
            'os.environ["DATA"] == "1"',
            "bool(R % 2)",
        ]
        known = [
            "len($xs) > $n", "$m > $n", "$m % 2", "$x < $x2", "$s", "not $xs", "$xs", "$any is None", "$any is not None",
            "isinstance($any, int)", "isinstance($any, list)", "$t.sum() > 0", "$t.shape[0] == $n", "$t.dim() > 1", "$q", "not $q",
            '"a" in $di', "$x in $xs", "$di", "$t.any()", "$t.max().item() > 1", "$s == 'ab'", "True", "False", "$t.numel()",
        ]  # fmt: skip
        roll = self.rng.random()
        if roll < 0.6 and self.on("data"):
            return self.rng.choice(data)
        if roll < 0.7 and not simple and self.on("chains"):
            word = self.rng.choice(["and", "or"])
            return f"{self.condition(simple=True)} {word} {self.condition(simple=True)}"
        for _ in range(4):
            with contextlib.suppress(Rejected):
                return self.fill(self.rng.choice(known))[0]
        return "R > 0"

    # Writing ----------------------------------------------------------------------------------

    def bound(self, names):
        for name in names:
            if name not in self.names:
                self.names.append(name)

    def put(self, text):
        """Writes a line at the current indentation, without executing it."""
        indent = "    " * self.indent
        self.texts.append(indent + text.replace("\n", "\n" + indent))

    def execute(self, text, keep=0.0):
        """Executes a simple statement and writes it; with probability `keep`, even if it raises."""
        try:
            code = compile(text, "<written>", "exec")
            with in_time():
                exec(code, self.ns)
        except (SyntaxError, OutOfTime):
            raise Rejected(text) from None
        except Exception:
            if not self.chance(keep):
                raise Rejected(text) from None
            self.put(text)
            raise Raised from None
        self.put(text)
        if self.indent == 0:
            self.compiled.append(code)

    def simple(self, keep=0.0):
        """Writes one line of a table."""
        tables = [(table, weight) for feature, (table, weight) in lines.TABLES.items() if self.on(feature)]
        table = self.rng.choices([t for t, _ in tables], [w for _, w in tables])[0]
        template = self.rng.choice(lines_of(table))
        if self.skipped(template):
            raise Rejected(template)
        is_statement = template.startswith("! ")
        text, new = self.fill(template.removeprefix("! ").replace("\\n", "\n"))
        if not is_statement:
            new.append(self.target())
            text = f"{new[-1]} = {text}"
        if text.startswith("del "):
            self.delete(text[4:])
            return
        self.execute(text, keep)
        if not all(is_sane(self.ns.get(name)) for name in new):
            self.undo_last(new)
            raise Rejected(text)
        self.bound(new)

    def undo_last(self, new):
        self.texts.pop()
        if self.indent == 0:
            self.compiled.pop()
        for name in new:
            self.ns.pop(name, None)
            if name in self.names:
                self.names.remove(name)

    def delete(self, name):
        if self.indent or name in self.frozen or name not in self.ns:
            raise Rejected(name)
        self.execute(f"del {name}")
        self.names.remove(name)

    def define(self, template, new=None, keep=0.0):
        """Executes `new = template` and returns the name."""
        text, _ = self.fill(template)
        name = new or self.target()
        self.execute(f"{name} = {text}", keep)
        self.bound([name])
        return name

    @contextlib.contextmanager
    def block(self, header):
        self.put(header)
        self.indent += 1
        size = len(self.texts)
        try:
            yield
        finally:
            if len(self.texts) == size:
                self.put("pass")
            self.indent -= 1

    @contextlib.contextmanager
    def function(self, header, arguments):
        """Opens the body of a function; `arguments` are names with sample values."""
        outer = self.ns, self.names, self.frozen, self.in_loop
        self.ns = {**self.ns, **arguments}
        self.names = [name for name in self.names if name not in arguments] + list(arguments)
        # Outer names can be read, and their values changed, but they cannot be bound.
        self.frozen = self.frozen | (set(outer[1]) - set(arguments))
        self.in_function += 1
        self.in_loop = 0
        try:
            with self.block(header):
                yield
        finally:
            self.in_function -= 1
            self.ns, self.names, self.frozen, self.in_loop = outer

    @contextlib.contextmanager
    def transaction(self):
        """Removes the written lines if they are rejected; otherwise runs the program again."""
        size, compiled, frozen, names = (
            len(self.texts),
            len(self.compiled),
            set(self.frozen),
            list(self.names),
        )
        ns, indent, in_function, in_loop = self.ns, self.indent, self.in_function, self.in_loop
        try:
            yield
        except BaseException as error:
            self.ns, self.indent, self.in_function, self.in_loop = ns, indent, in_function, in_loop
            self.frozen = frozen
            if isinstance(error, Raised):
                raise
            del self.texts[size:], self.compiled[compiled:]
            self.names = names
            if indent == 0:
                self.rerun()
            raise
        self.frozen = frozen
        if indent == 0:
            del self.compiled[compiled:]
            try:
                self.compiled.append(compile("\n".join(self.texts[size:]), "<written>", "exec"))
                self.rerun()
            except (Rejected, SyntaxError) as error:
                if self.chance(0.08) and isinstance(error, Rejected):
                    raise Raised from None
                del self.texts[size:], self.compiled[compiled:]
                self.names = names
                self.rerun()
                raise Rejected from None

    def rerun(self):
        """Runs the program so far with the first seed of the data, to update the namespace."""
        seed_all(0)
        self.ns = {"__name__": "__main__"}
        try:
            with in_time():
                for code in self.compiled:
                    exec(code, self.ns)
        except (Exception, OutOfTime) as error:
            raise Rejected(str(error)) from None
        bound = [name for name in self.ns if name not in self.hidden and re.fullmatch(r"v\d+", name)]
        self.names = [name for name in self.names if name in self.ns]
        self.bound(bound)
        if not all(is_sane(self.ns[name]) for name in bound):
            raise Rejected("too large")


CACHE = {}


def lines_of(table):
    if table not in CACHE:
        CACHE[table] = [line for line in table.strip().splitlines() if line]
    return CACHE[table]


def is_instance(value):
    return type(value).__module__ == "__main__" and not isinstance(value, (type, types.FunctionType, tuple))
