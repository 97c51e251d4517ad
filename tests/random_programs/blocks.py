"""The compound statements of random programs, each a function of the writer."""

import contextlib
import random

import torch

from objects import ATTRIBUTES, FUNCTIONS, METHODS, SPECIAL, USES, parts
from writer import OutOfTime, Raised, Rejected, Writer, in_time, is_instance, seed_all

BLOCKS = {}  # function -> (feature, weight)


def block(feature, weight=4):
    def register(function):
        BLOCKS[function] = feature, weight
        return function

    return register


# Bodies ---------------------------------------------------------------------------------------


def statement(w, depth, keep=0.0):
    """Writes one statement, simple or compound; if a choice is rejected, tries another."""
    for _ in range(40):
        try:
            if depth < 3 and w.chance(0.22 if w.indent == 0 else 0.14) and len(w.texts) < 45:
                blocks = [(b, weight) for b, (feature, weight) in BLOCKS.items() if w.on(feature)]
                chosen = w.rng.choices([b for b, _ in blocks], [n for _, n in blocks])[0]
                with w.transaction():
                    chosen(w, depth)
            elif w.indent and w.chance(0.12):
                escape(w)
            else:
                w.simple(keep)
            return
        except Rejected:
            continue
    w.put("pass")


def body(w, depth, most=3, keep=0.0):
    for _ in range(w.rng.randint(1, most)):
        statement(w, depth + 1, keep)


def escape(w):
    """Leaves a loop or a function, or raises, if a condition holds."""
    ways = []
    if w.in_loop and w.on("escapes"):
        ways += ["break", "continue"]
    if w.in_function and w.on("escapes"):
        ways += [f"return {w.value()}"]
    if w.on("raises"):
        ways += ['raise ValueError("stop")'] if w.chance(0.3) else []
    if not ways:
        raise Rejected
    with w.block(f"if {w.condition()}:"):
        if w.chance(0.4):
            with contextlib.suppress(Rejected):
                w.simple()
        w.put(w.rng.choice(ways))


# Control flow ---------------------------------------------------------------------------------


@block("if", 10)
def if_statement(w, depth):
    with w.block(f"if {w.condition()}:"):
        body(w, depth)
    if w.chance(0.2):
        with w.block(f"elif {w.condition()}:"):
            body(w, depth)
    if w.chance(0.5):
        with w.block("else:"):
            body(w, depth)


@block("if", 6)
def either_value(w, depth):
    """A branch that assigns one of two values to a name."""
    name = w.target()
    with w.block(f"if {w.condition()}:"):
        w.define(w.value(), name)
        if w.chance(0.3):
            body(w, depth, 1)
    with w.block("else:"):
        w.define(w.value(), name)


@block("for", 8)
def for_loop(w, depth):
    name, second = w.fresh(), w.fresh()
    single = ["range($n)", "range(3)", "$xs", "$ts", "$t", "reversed($xs)", "[$x, $x2]", "($v, $v2)", "$st", "$di", "$s",
              "range(R + 1)", "sorted($st)", "$t.tolist()", "list($xs)", "$a", "range(5, 0, -2)", "$t.unbind(0)"]  # fmt: skip
    double = ["enumerate($xs)", "enumerate($t)", "zip($xs, $xs2)", "zip(range(3), $ts)", "$di.items()", "[($x, 1), (2, $v)]",
              "enumerate([$v, $v2], 1)", "zip($t, $t2)", "itertools.product([1, 2], $xs)"]  # fmt: skip
    if w.on("empty"):
        single += ["range(R)", "range(1, R)", "range($m)"]
    pair = w.chance(0.3)
    iterable, _ = w.fill(w.rng.choice(double if pair else single))
    try:
        with in_time():
            items = eval(f"list({iterable})", w.ns)
    except (Exception, OutOfTime):
        raise Rejected from None
    if len(items) > 12:
        raise Rejected
    with w.block(f"for {name}{f', {second}' if pair else ''} in {iterable}:"):
        names = [name, second] if pair else [name]
        sample = items[0] if items else (1, 2) if pair else 1
        w.ns.update(zip(names, sample if pair else [sample]))
        w.bound(names)
        w.in_loop += 1
        body(w, depth, 4)
        w.in_loop -= 1
    if w.chance(0.12) and w.on("escapes"):
        with w.block("else:"):
            body(w, depth, 1)


@block("while", 5)
def while_loop(w, depth):
    counter = w.fresh()
    w.execute(f"{counter} = 0")
    w.bound([counter])
    w.frozen.add(counter)
    roll = w.rng.random()
    limit = w.rng.choice(["3", "R + 1", "R + 2", "5", "8", "20", *(["R", "R"] if w.on("empty") else [])])
    header = (
        f"while {counter} < {limit}:"
        if roll < 0.6
        else "while True:"
        if roll < 0.8 or not w.on("empty")
        else f"while {w.condition()}:"
    )
    with w.block(header):
        w.put(f"{counter} += 1")
        w.in_loop += 1
        if roll >= 0.6:
            with w.block(f"if {counter} > {w.rng.randint(1, 6)}:"):
                w.put("break")
        body(w, depth)
        w.in_loop -= 1
    if w.chance(0.12) and w.on("escapes"):
        with w.block("else:"):
            body(w, depth, 1)


@block("try", 6)
def try_statement(w, depth):
    risky = [
        "int('x')", "[][1]", "{}['k']", "1 / 0", "None.x", "raise ValueError('no')", "torch.ones(2) @ torch.ones(3)",
        "torch.zeros(2)[5]", "assert R", "raise KeyError(R)", "int('1')", "torch.ones(2).view(3)", "raise RuntimeError",
        "next(iter([]))", "torch.cat([torch.ones(2, 2), torch.ones(3, 3)])",
    ]  # fmt: skip
    with w.block("try:"):
        body(w, depth, 2)
        if w.chance(0.6):
            text = w.rng.choice(risky)
            if w.chance(0.5):
                with w.block(f"if {w.condition()}:"):
                    w.put(text)
            else:
                w.put(text)
        if w.chance(0.6):
            body(w, depth, 2)
    handlers = w.chance(0.85) or not w.on("finally")
    if handlers:
        kind = w.rng.choice(
            [
                "Exception",
                "ValueError",
                "(ValueError, KeyError)",
                "RuntimeError",
                "Exception as error",
                "IndexError",
                "LookupError",
            ]
        )
        with w.block(f"except {kind}:"):
            if w.chance(0.25) and "error" in kind:
                w.put(f"{w.fresh()} = type(error).__name__")
            body(w, depth, 2)
            if w.chance(0.1) and w.on("raises"):
                w.put("raise")
        if w.chance(0.2):
            with w.block("except Exception:"):
                body(w, depth, 1)
        if w.chance(0.3):
            with w.block("else:"):
                body(w, depth, 2)
    if w.on("finally") and (not handlers or w.chance(0.3)):
        with w.block("finally:"):
            body(w, depth, 2)


@block("with", 3)
def with_statement(w, depth):
    managers = [
        "torch.no_grad()",
        "torch.enable_grad()",
        "contextlib.nullcontext()",
        "torch.set_grad_enabled(False)",
        "torch.inference_mode()",
    ]
    if w.on("suppress"):
        managers += ["contextlib.suppress(Exception)", "contextlib.suppress(ValueError)"]
    manager = w.rng.choice(managers)
    bound = f" as {w.fresh()}" if w.chance(0.15) else ""
    if bound and "grad" in manager:
        bound = ""
    with w.block(f"with {manager}{bound}:"):
        with torch.no_grad() if "no_grad" in manager else contextlib.nullcontext():
            body(w, depth)
        if "suppress" in manager and w.chance(0.6):
            with w.block(f"if {w.condition()}:") if w.chance(0.5) else contextlib.nullcontext():
                w.put("raise ValueError")
            body(w, depth, 1)


@block("match", 3)
def match_statement(w, depth):
    subject = w.rng.choice(
        ["R", w.pick("any"), "R % 2", "(R, 1)", "[R, 2, 3]", '{"k": R}', w.pick("any"), w.pick("tu")]
    )
    patterns = [
        "0", "1", "1 | 2", "int()", "str()", "None", "[]", "[first]", "(first, second)", "[first, *rest]", "(0, first)", "float()",
        '{"k": first}', "True", "first if R > 0", "torch.Tensor()", '"ab"', "list()", "int() as first", "Pair(left=first)", "-1",
    ]  # fmt: skip
    with w.block(f"match {subject}:"):
        for pattern in w.rng.sample(patterns, w.rng.randint(1, 3)):
            capture = w.fresh()
            guard = f" if {w.condition()}" if w.chance(0.2) and " if " not in pattern else ""
            with w.block(f"case {pattern.replace('first', capture)}{guard}:"):
                if capture and "first" in pattern:
                    w.put(f"{w.fresh()} = {capture}")
                body(w, depth, 2)
        if w.chance(0.5):
            with w.block("case _:"):
                body(w, depth, 2)


# Functions ------------------------------------------------------------------------------------


@block("functions", 8)
def function(w, depth):
    if w.in_function > 1:
        raise Rejected
    name, first, second, third = (w.fresh() for _ in range(4))
    kinds = w.rng.choices(["t", "m", "xs", "any", "s", "di"], [5, 4, 4, 2, 1, 1], k=2)
    samples = [w.pick(kind) for kind in kinds]
    header, arguments = f"def {name}({first}, {second}):", {first: w.ns[samples[0]], second: w.ns[samples[1]]}
    roll = w.rng.random()
    if roll < 0.35:
        default = w.rng.choice(["1", "None", "[]", "2.5", "True", '"ab"', "{}"])
        header = f"def {name}({first}, {second}, {third}={default}):"
        arguments[third] = eval(default)
    elif roll < 0.45:
        header, arguments = (
            f"def {name}({first}, *{second}):",
            {first: w.ns[samples[0]], second: (w.ns[samples[1]], 1)},
        )
    elif roll < 0.55:
        header = f"def {name}({first}, {second}, **{third}):"
        arguments[third] = {"a": 1}
    shared = (
        [n for n in w.names if type(w.ns.get(n)) in (int, float, list, str) and n not in w.frozen]
        if w.in_function == 0
        else []
    )
    with w.function(header, arguments):
        if shared and w.chance(0.25) and w.on("global"):
            name_of = w.rng.choice(shared)
            w.put(f"global {name_of}")
            w.put(f"{name_of} = {w.value()}")
        body(w, depth, 5)
        if w.chance(0.85):
            w.put(
                f"return {w.rng.choice([w.pick('any'), w.pick('any'), w.value(), f'{w.value()}, {w.value()}', first])}"
            )
    if w.in_function:
        w.ns[name] = lambda *_, **__: None
        w.put(f"{w.fresh()} = {name}({samples[0]}, {samples[1]})")
        return
    w.functions[name] = kinds
    for _ in range(w.rng.randint(1, 3)):
        call(w, name, samples)


def call(w, name, samples):
    other = [w.pick(kind) for kind in w.functions[name]] if w.chance(0.5) else samples
    text = f"{name}({other[0]}, {other[1]})"
    if w.chance(0.15):
        text = w.rng.choice(
            [
                f"{name}(*[{other[0]}, {other[1]}])",
                f"{name}({other[0]}, *({other[1]},))",
                f"functools.partial({name}, {other[0]})({other[1]})",
            ]
        )
    if w.chance(0.15):
        pair = f"{w.fresh()}, {w.fresh()}"
        w.put(f"{pair} = {text}, {name}({samples[0]}, {samples[1]})")
    else:
        w.put(f"{w.fresh()} = {text}" if w.chance(0.9) else text)


@block("functions", 5)
def small_function(w, depth):
    if w.indent:
        raise Rejected
    text, new = w.fill(w.rng.choice([text for text in parts(FUNCTIONS) if not w.skipped(text)]))
    for line in text.split("\n"):
        w.put(line)
    if not text.startswith("$new = ["):
        w.frozen.add(new[0])
        for _ in range(w.rng.randint(1, 3)):
            w.put(f"{w.fresh()} = {new[0]}({w.rng.choice(['1', '2', 'R', w.value(), '3'])})")


@block("generators", 5)
def generator(w, depth):
    """A generator that changes an object outside of it, and code that uses the generator."""
    if w.indent:
        raise Rejected
    name, log, item = w.fresh(), w.fresh(), w.fresh()
    w.put(f"{log} = []")
    w.ns[log] = []
    with w.block(f"def {name}(limit={w.rng.choice(['2', '3', 'R' if w.on('empty') else 'R + 1', '4'])}):"):
        if w.chance(0.3):
            w.put(f"{log}.append(-1)")
        with w.block("for step in range(limit):"):
            w.put(f"{log}.append(step)")
            w.put(
                w.rng.choice(
                    [
                        "yield step",
                        "yield step * 2",
                        f"yield {w.value()}",
                        f"yield from [step, {w.number()}]",
                        "yield step, step + 1",
                    ]
                )
            )
            if w.chance(0.3):
                w.put(f"{log}.append({w.number()})")
        if w.chance(0.3):
            w.put(w.rng.choice(["yield 9", "return 5", f"{log}.clear()"]))
    use = w.rng.choice(["for", "for", "list", "next", "any", "comp", "all", "from", "zip"])
    if use == "for":
        with w.block(f"for {item} in {name}():"):
            if w.chance(0.5):
                with w.block(f"if {w.rng.choice([f'len({log}) > 1', w.condition()])}:"):
                    w.put("break")
            w.ns[item] = 1
            body(w, depth, 2)
    elif use == "next":
        held = w.fresh()
        w.put(f"{held} = {name}(3)")
        for _ in range(w.rng.randint(1, 2)):
            w.put(f"{w.fresh()} = next({held})")
        w.put(f"{w.fresh()} = len({log})")
        if w.chance(0.5):
            w.put(f"{w.fresh()} = list({held})")
    elif use == "from":
        outer = w.fresh()
        with w.block(f"def {outer}():"):
            w.put(f"{w.fresh()} = yield from {name}(2)")
            w.put("yield 7")
        w.put(f"{w.fresh()} = list({outer}())")
    else:
        text = {
            "list": f"list({name}())",
            "any": f"any({name}())",
            "all": f"all({name}())",
            "comp": f"[e for e in {name}()]",
            "zip": f"list(zip({name}(3), [1]))",
        }[use]
        w.put(f"{w.fresh()} = {text}")
    w.put(f"{w.fresh()} = len({log})")
    w.put(f"{w.fresh()} = sum({log})")


@block("managers", 3)
def manager(w, depth):
    """A user's context manager, as a function or a class, and a `with` block that uses it."""
    if w.indent:
        raise Rejected
    name, log, bound = w.fresh(), w.fresh(), w.fresh()
    w.put(f"{log} = [0]")
    w.ns[log] = [0]
    w.bound([log])
    if w.chance(0.5):
        w.put("@contextlib.contextmanager")
        with w.block(f"def {name}():"):
            w.put(f"{log}.append(1)")
            guarded = w.chance(0.6)
            with w.block("try:") if guarded else contextlib.nullcontext():
                w.put(f"yield {w.value()}")
            if guarded:
                with w.block(w.rng.choice(["finally:", "except ValueError:"])):
                    w.put(f"{log}.append(2)")
            else:
                w.put(f"{log}.append(2)")
    else:
        with w.block(f"class {name}:"):
            with w.block("def __enter__(self):"):
                w.put(f"{log}.append(1)")
                w.put(f"return {w.rng.choice(['self', w.value()])}")
            with w.block("def __exit__(self, kind, value, trace):"):
                w.put(f"{log}.append({w.rng.choice(['2', 'kind is None', '3'])})")
                w.put(w.rng.choice(["return True", "return False", "pass", "return kind is ValueError"]))
    with w.block(f"with {name}() as {bound}:"):
        w.put(f"{w.fresh()} = {bound}")
        body(w, depth, 2)
        if w.chance(0.5):
            with w.block(f"if {w.condition()}:") if w.chance(0.5) else contextlib.nullcontext():
                w.put("raise ValueError")
            body(w, depth, 1)
    w.put(f"{w.fresh()} = len({log})")
    w.put(f"{w.fresh()} = {log}[-1]")


# Classes --------------------------------------------------------------------------------------


def multi(w, text, prefix=""):
    for line in text.replace("self.A", f"self.{prefix}").split("\n"):
        w.put(line)


@block("classes", 7)
def classes(w, depth):
    if w.indent:
        raise Rejected
    name = f"C{w.fresh()[1:]}"
    kinds = w.rng.sample(list(ATTRIBUTES), w.rng.randint(1, 3))
    names = {kind: chr(97 + i) for i, kind in enumerate(kinds)}
    methods = []
    shared = w.rng.choice(["0", "[]", "None", "3", "torch.ones(2)", '"x"'])
    style = w.rng.random()
    if style < 0.12:
        dataclass(w, name)
        return
    with w.block(f"class {name}:"):
        if w.chance(0.7):
            w.put(f"shared = {shared}")
        w.put("counter = 0")
        with w.block(f"def __init__(self, first={w.rng.choice(['1', 'None', '2'])}):"):
            for kind, attribute in names.items():
                w.put(f"self.{attribute} = {w.fill(ATTRIBUTES[kind])[0]}")
            w.put(w.rng.choice([f"{name}.counter += 1", "self.extra = first", "pass"]))
        for number in range(w.rng.randint(1, 3)):
            kind = w.rng.choice(kinds)
            method = f"m{number}"
            methods.append(method)
            with w.block(f"def {method}(self, x=1):"):
                multi(w, w.rng.choice(parts(METHODS[kind])), names[kind])
        for special in w.rng.sample([(k, s) for k in kinds for s in parts(SPECIAL[k])], w.rng.randint(0, 3)):
            multi(w, special[1], names[special[0]])
    child = name
    if w.chance(0.3):
        child = name + "b"
        with w.block(f"class {child}({name}):"):
            if w.chance(0.4):
                with w.block("def __init__(self):"):
                    w.put(
                        w.rng.choice(["super().__init__()", "super().__init__(5)", f"{name}.__init__(self)"])
                    )
                    w.put(f"self.{w.rng.choice('ab')} = {w.value()}")
            with w.block(f"def {w.rng.choice(methods)}(self, x=2):"):
                w.put(
                    w.rng.choice(
                        [
                            f"return super().{methods[0]}(x)",
                            f"old = super().{methods[0]}(x + 1)\n        return old",
                            "self.a = x\n        return self.a",
                            "return x",
                        ]
                    )
                )
            if w.chance(0.3):
                w.put(f"shared = {w.value()}")
    holder = w.fresh()
    w.put(f"{holder} = {child}({w.rng.choice(['', '', '3'])})" if child == name else f"{holder} = {child}()")
    use(w, [holder], [name, child], methods, list(names.values()))


def use(w, holders, classes, methods, attributes):
    """Executes statements about instances, and writes those that do not raise."""
    code = "\n".join(w.texts[w_size(w) :])
    try:
        with in_time():
            exec(compile(code, "<written>", "exec"), w.ns)
    except (Exception, OutOfTime):
        raise Rejected from None
    for _ in range(w.rng.randint(3, 8)):
        template = w.rng.choice([text for text in parts(USES) if not w.skipped(text)])
        parts_of = {"o": holders, "c": classes, "m": methods or ["m0"], "a": attributes}
        chosen = {key: w.rng.choice(values) for key, values in parts_of.items()}
        text = template.format(**chosen, v=w.value(), n=w.rng.randint(0, 4))
        new = None
        if text.startswith("! "):
            text = text[2:]
        else:
            new = w.fresh()
            text = f"{new} = {text}"
        try:
            with in_time():
                exec(compile(text, "<written>", "exec"), w.ns)
        except (Exception, OutOfTime):
            continue
        if new and is_instance(w.ns[new]):
            holders.append(new)
        if w.chance(0.15):
            with w.block(f"if {w.condition()}:"):
                w.put(text)
        elif w.chance(0.08):
            with w.block(
                f"for {w.fresh()} in range({w.rng.choice(['2', 'R' if w.on('empty') else 'R + 1', '3'])}):"
            ):
                w.put(text)
        else:
            w.put(text)


def w_size(w):
    """The index of the first line of the compound statement that is being written."""
    return w.began


def dataclass(w, name):
    w.put("import dataclasses")
    w.put("@dataclasses.dataclass")
    with w.block(f"class {name}:"):
        w.put(f"a: int = {w.rng.choice(['1', '2', 'R'])}")
        w.put("b: list = dataclasses.field(default_factory=list)")
        w.put(f"c: object = {w.rng.choice(['None', '2.5', 'True'])}")
        with w.block("def m0(self, x=1):"):
            w.put(w.rng.choice(["self.b.append(x)", "self.a += x", "self.c = x"]))
            w.put("return self.a")
    holder = w.fresh()
    w.put(f"{holder} = {name}({w.rng.choice(['', '5', 'c=3', '1, [1, 2]'])})")
    use(w, [holder], [name], ["m0"], list("abc"))


# Training -------------------------------------------------------------------------------------


@block("training", 4)
def training(w, depth):
    if w.indent:
        raise Rejected
    rng, uid = w.rng, w.fresh()
    inputs, outputs = rng.choice([2, 3]), rng.choice([1, 2, 3])
    module, model, optimizer, loss = f"Net{uid}", f"model{uid}", f"optimizer{uid}", f"loss{uid}"
    with w.block(f"class {module}(nn.Module):"):
        with w.block("def __init__(self):"):
            w.put("super().__init__()")
            w.put(f"self.layer = nn.Linear({inputs}, {rng.choice([outputs, 4])})")
            w.put(f"self.head = nn.Linear({rng.choice([outputs, 4])}, {outputs})")
            w.put("self.calls = 0")
            w.put('self.register_buffer("steps", torch.zeros(1))')
        with w.block("def forward(self, x):"):
            w.put("self.calls += 1")
            w.put(rng.choice(["self.steps += 1", "self.steps.add_(1)", "pass"]))
            w.put(
                rng.choice(
                    ["x = self.layer(x)", "x = F.relu(self.layer(x))", "x = torch.sigmoid(self.layer(x))"]
                )
            )
            w.put(
                rng.choice(
                    [
                        "return self.head(x)",
                        "if R > 0:\n            x = self.head(x)\n        return x",
                        "return x if x.shape[-1] == 2 else self.head(x)",
                        "return self.head(x).squeeze(-1)",
                    ]
                )
            )
    plain = rng.choice(
        [
            f"nn.Linear({inputs}, {outputs})",
            f"nn.Sequential(nn.Linear({inputs}, 4), nn.ReLU(), nn.Linear({rng.choice([4, 4, 4, 3])}, {outputs}))",
        ]
    )
    w.put(f"{model} = {rng.choice([module + '()', plain])}")
    if w.on("hooks") and w.chance(0.3):
        seen = w.fresh()
        w.put(f"{seen} = []")
        w.put(
            f"{w.fresh()} = {model}.register_forward_hook(lambda module, args, out: {seen}.append(out.shape))"
        )
    w.put(f"{optimizer} = torch.optim.{rng.choice(['SGD', 'Adam', 'AdamW'])}({model}.parameters(), lr=0.1)")
    batch = rng.choice([2, 4])
    w.put(f"x{uid} = torch.randn({batch}, {inputs})")
    kind = rng.choice(["mse", "cross", "l1", "bce"])
    target = {
        "mse": f"torch.randn({batch}, {outputs})",
        "l1": f"torch.zeros({batch}, {outputs})",
        "cross": f"torch.randint(0, {outputs + rng.choice([0, 0, 1])}, ({batch},))",
        "bce": f"torch.rand({batch}, {outputs})",
    }[kind]
    function = {
        "mse": "F.mse_loss",
        "l1": "F.l1_loss",
        "cross": "F.cross_entropy",
        "bce": "F.binary_cross_entropy_with_logits",
    }[kind]
    w.put(f"y{uid} = {target}")
    total, steps = w.fresh(), rng.choice(["2", "3", "R" if w.on("empty") else "R + 2", "R + 1"])
    w.put(f"{total} = 0.0")
    order = ["zero", "forward", "loss", "backward", "step"]
    if w.chance(0.35):
        first, second = rng.sample(range(5), 2)
        order[first], order[second] = order[second], order[first]
    if w.chance(0.15):
        order.append(rng.choice(["backward", "step", "zero"]))
    if w.chance(0.15):
        order.remove(rng.choice(order))
    texts = {
        "zero": f"{optimizer}.zero_grad()", "forward": f"out{uid} = {model}(x{uid})", "loss": f"{loss} = {function}(out{uid}, y{uid})",
        "backward": f"{loss}.backward()" if w.chance(0.9) else f"{loss}.backward(retain_graph=True)", "step": f"{optimizer}.step()",
    }  # fmt: skip
    if w.chance(0.1):
        texts["loss"] += ".detach()"
    if w.chance(0.1):
        texts["forward"] = f"out{uid} = {model}(x{uid}).relu_()"
    with w.block(f"for step{uid} in range({steps}):"):
        for part in order:
            conditional = w.chance(0.1)
            with w.block(f"if {w.condition()}:") if conditional else contextlib.nullcontext():
                w.put(texts[part])
        w.put(
            rng.choice([f"{total} += {loss}.item()", f"{total} = {total} + {loss}.detach()", f"{total} += 1"])
        )
        if w.chance(0.2):
            with w.block(f"if {w.condition()}:"):
                w.put(rng.choice(["break", "continue"]))
    if w.chance(0.4):
        w.put(f"{model}.eval()")
        with w.block("with torch.no_grad():"):
            w.put(f"{w.fresh()} = {model}(x{uid}).argmax(-1)")
            w.put(f"{w.fresh()} = {model}(x{uid}[:1])")
    ends = [
        f"{model}.training", f"list({model}.parameters())[0]", f"list({model}.parameters())[0].grad", f"len(list({model}.parameters()))",
        f"getattr({model}, 'calls', 0)", f"y{uid}.sum()", f"[p.requires_grad for p in {model}.parameters()]", f"{model}(x{uid}).requires_grad",
    ]  # fmt: skip
    for text in rng.sample([text for text in ends if not w.skipped(text)], 2):
        w.put(f"{w.fresh()} = {text}")


# Programs -------------------------------------------------------------------------------------


def program(seed, without=frozenset(), skip=""):
    """The source of the program with this seed, without some features and lines."""
    rng = random.Random(seed)
    torch.set_num_threads(1)
    w = Writer(rng, without, skip)
    length = rng.randint(8, 26)
    try:
        # Values for the statements to use.
        for template in ("$xs", "$t", "$t2", "$n", "{'a': $n, 'b': 2}", "'ab'"):
            text = {
                "$xs": "[3, 1, 2]",
                "$t": w.rng.choice(
                    [
                        "torch.arange(6).view(2, 3)",
                        "torch.ones(2, 3)",
                        "torch.randn(3, 3)",
                        "torch.tensor([1, 2, 3])",
                    ]
                ),
                "$t2": "torch.zeros(2, 3)",
            }.get(template, template)
            if w.chance(0.7):
                w.define(text)
        while len(w.texts) < length:
            w.began = len(w.texts)
            statement(w, 0, keep=0.004)
    except Raised:
        pass
    seed_all(0)
    return w.source()
