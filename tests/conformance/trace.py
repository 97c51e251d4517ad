"""Runs scripts on PyTorch, and compares the assigned values on each line with `torchvet facts`.

    python tests/conformance/trace.py --torchvet target/debug/torchvet corpus/clean/*
        [--show] [--list-unknown] [--enforce] [--timeout 120] [--facts FILE] [--markdown tests/conformance/RESULTS.md]

A script is a file, a notebook, or a directory with train.py or main.py. Each runs as a user would
run it, in a new process and a temporary directory. Every assignment to a name (also by tuples,
`for` and `with`) records the shape, dtype and device of a tensor or array, and the type of any
other value. A fact contradicts the run if no execution of its line assigned a value that agrees
with it. A named dimension agrees with any size. torchvet assumes a GPU; therefore, on a machine
without CUDA, any device agrees, and for a fact about CUDA, half precision agrees with any dtype. Scripts with
`# needs: data` (or, without a GPU, `# needs: cuda`) are not run.
"""

import argparse
import ast
import builtins
import collections
import importlib.abc
import importlib.machinery
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

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import forks  # noqa: E402

ENTRY = ("train.py", "main.py")
NEEDS = re.compile(r"^#\s*needs:\s*(.+)$", re.MULTILINE)
OBSERVE = "__torchvet_observe__"
MOST_DISTINCT = 200  # the maximal number of different values that are recorded for an assignment
GOAL = 0.85
SECTION = "## Scripts of the corpus\n"  # the heading of the last section in the file of results


# Notes ----------------------------------------------------------------------------------------


class Notes:
    """The assigned values: (file, cell, first row, last row, name) -> the distinct values, in
    order."""

    def __init__(self):
        self.sites = {}

    def observe(self, site, value):
        import torch

        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            seen = ("tensor", tuple(value.shape), dtype, str(value.device))
        elif type(value).__module__ == "numpy" and hasattr(value, "dtype"):
            seen = ("array", tuple(value.shape), str(value.dtype), "")
        else:
            seen = (type(value).__name__,)
        values = self.sites.setdefault(site, {})
        if len(values) < MOST_DISTINCT:
            values[seen] = None


class Instrument(ast.NodeTransformer):
    """Adds a call after every assignment to names, which records their values."""

    def __init__(self, file, cell):
        self.file, self.cell = file, cell

    def notes(self, statement, target_nodes, last_row):
        calls = []
        stored = [n for target in target_nodes for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        for name in stored:
            if sum(other.id == name.id for other in stored) > 1:
                continue  # of a name that a statement binds twice, only the last value could be recorded
            site = (self.file, self.cell, statement.lineno, last_row, name.id)
            call = ast.Call(
                ast.Name(OBSERVE, ast.Load()),
                [ast.Constant(site), ast.Name(name.id, ast.Load())],
                [],
            )
            calls.append(ast.fix_missing_locations(ast.copy_location(ast.Expr(call), statement)))
        return calls

    def visit_Assign(self, node):
        return [node, *self.notes(node, node.targets, node.end_lineno)]

    def visit_AugAssign(self, node):
        return [node, *self.notes(node, [node.target], node.end_lineno)]

    def visit_AnnAssign(self, node):
        return [node, *self.notes(node, [node.target], node.end_lineno)] if node.value else node

    def visit_For(self, node):
        self.generic_visit(node)
        node.body = self.notes(node, [node.target], node.iter.end_lineno) + node.body
        return node

    def visit_With(self, node):
        self.generic_visit(node)
        targets = [item.optional_vars for item in node.items if item.optional_vars]
        node.body = self.notes(node, targets, node.items[-1].context_expr.end_lineno) + node.body
        return node


def instrumented(source, file, cell, shown):
    tree = ast.parse(source, filename=shown)
    return compile(Instrument(file, cell).visit(tree), shown, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Also instruments the modules in the folder of the script."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        if not pathlib.Path(spec.origin).is_relative_to(self.root):
            return None
        spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):  # never use cached bytecode
        path = self.get_filename(name)
        return instrumented(self.get_data(path).decode("utf-8"), path, None, path)


# Running --------------------------------------------------------------------------------------


def cells(path):
    """The code cells of a notebook as (number, source), magics blanked out."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).split("\n")
            yield number, "\n".join("pass" if re.match(r"\s*[%!]", line) else line for line in lines)


def entry_of(script):
    if script.is_dir():
        return next((script / name for name in ENTRY if (script / name).exists()), None)
    return script


def texts_of(script):
    if script.is_dir():
        return [path.read_text(encoding="utf-8") for path in sorted(script.rglob("*.py"))]
    return [script.read_text(encoding="utf-8")]


def execute(script, timeout):
    """Runs a script in this process; returns the records, and the exception that stopped it."""
    entry, notes = entry_of(script), Notes()
    setattr(builtins, OBSERVE, notes.observe)
    sys.argv = [str(entry)]
    sys.path.insert(0, str(entry.parent))
    if script.is_dir():
        sys.meta_path.insert(0, Finder(entry.parent))
    sys.dont_write_bytecode = True
    main = types.ModuleType("__main__")
    main.__file__ = str(entry)
    sys.modules["__main__"] = main

    def out_of_time(*_):
        raise TimeoutError(f"stopped after {timeout} s")

    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(timeout)
    stopped = None
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            if script.suffix == ".ipynb":
                for number, source in cells(script):
                    exec(instrumented(source, str(entry), number, f"{entry}:cell {number}"), main.__dict__)
            else:
                exec(instrumented(entry.read_text(encoding="utf-8"), str(entry), None, str(entry)), main.__dict__)
        except SystemExit as stop:
            stopped = None if stop.code in (None, 0) else f"SystemExit: {stop.code}"
        except BaseException as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(entry.parent))]
            place = f" at line {frames[-1].lineno}" if frames else ""
            stopped = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}{place}"
        finally:
            signal.alarm(0)
            os.chdir("/")
    return {"sites": [[list(site), [list(v) for v in values]] for site, values in notes.sites.items()], "stopped": stopped}


def run(script, timeout):
    """Runs `execute` in a fork, without output."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        answer = json.dumps(execute(script, timeout)).encode()
        with os.fdopen(write, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return json.loads(answer) if answer else {"sites": [], "stopped": f"killed (status {status})"}


# Comparing ------------------------------------------------------------------------------------


def agrees(fact, seen, cuda):
    """None if a fact and an observed value agree, otherwise the reason why not."""
    kind = fact.get("kind", "unknown")
    if kind in ("unknown", "any"):
        return None
    if seen[0] not in ("tensor", "array"):
        return f"a {kind}, but it was {seen[0]}" if kind == "tensor" else None
    if kind != seen[0]:
        # torchvet may treat a scalar of NumPy as a number of Python.
        return None if seen[0] == "array" and not seen[1] else f"{kind}, but it was a {seen[0]}"
    _, shape, dtype, device = seen
    said = fact.get("shape")
    if said is not None:
        if len(said) != len(shape) or any(isinstance(d, int) and d != s for d, s in zip(said, shape)):
            return f"shape {said}, but it was {list(shape)}"
    told = fact.get("dtype")
    on_cuda = str(fact.get("device", "")).startswith("cuda")
    dtypes = told if isinstance(told, list) else [told]
    if told is not None and dtype not in [str(d).removeprefix("torch.") for d in dtypes]:
        # Autocast has other lists of functions on CUDA than on the CPU.
        if cuda or not on_cuda or not {*dtypes, dtype} & {"float16", "bfloat16"}:
            return f"dtype {told}, but it was {dtype}"
    if cuda and re.match(r"(cpu|cuda)", str(fact.get("device") or "")):
        if fact["device"].split(":")[0] != device.split(":")[0]:
            return f"device {fact['device']}, but it was {device}"
    return None


def is_full(fact):
    return fact.get("kind") == "tensor" and fact.get("shape") is not None and isinstance(fact.get("dtype"), str) and bool(fact.get("device"))


def is_named(fact):
    return is_full(fact) and all(dimension is not None for dimension in fact["shape"])


def brief(fact):
    if not fact or fact.get("kind") != "tensor":
        return (fact or {}).get("kind", "no fact")
    shape = "[?]" if fact.get("shape") is None else "[" + ", ".join("?" if d is None else str(d) for d in fact["shape"]) + "]"
    return f"{fact.get('dtype') or '?'}{shape} {fact.get('device') or '?'}"


def seen_text(seen):
    return f"{seen[2]}{list(seen[1])} {seen[3]}" if seen[0] in ("tensor", "array") else seen[0]


class Result:
    """The result of the comparison for one script."""

    def __init__(self):
        self.tensors = self.full = self.named = self.partly = 0
        self.contradictions, self.sometimes, self.lacking, self.lines = [], [], [], []


def compare(sites, facts, cuda):
    """`facts`: (file, cell, name) -> list of facts with their rows."""
    result = Result()
    for (file, cell, first, last, name), values in sites:
        here = [f["value"] for f in facts.get((file, cell, name), ()) if first <= f["location"]["row"] <= last]
        where = f"{file}{f':cell {cell}' if cell else ''}:{first}: {name}"
        tensors = [seen for seen in values if seen[0] == "tensor"]
        for fact in here:
            reasons = [agrees(fact, seen, cuda) for seen in values]
            if all(reasons):
                result.contradictions.append(f"{where} = {brief(fact)}: {reasons[0]}")
            elif any(reasons) and all(seen[0] == "tensor" for seen in values):
                result.sometimes.append(f"{where} = {brief(fact)}: sometimes {next(filter(None, reasons))}")
        if not tensors:
            continue
        result.tensors += 1
        result.full += any(map(is_full, here))
        result.named += any(map(is_named, here))
        result.lines.append(f"{where}: {seen_text(tensors[0])} | {', '.join(map(brief, here)) or 'no fact'}")
        if not any(map(is_full, here)):
            result.lacking.append(result.lines[-1])
    return result


def read_facts(options, scripts):
    if options.facts:
        return json.loads(options.facts.read_text(encoding="utf-8"))
    command = [str(pathlib.Path(options.torchvet).resolve()), "facts", "--output-format", "json", *map(str, scripts)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command[:4])} ...: exit status {done.returncode}\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout or "[]")


def section(figures):
    """The part of the file of results that this program writes."""
    rows = "\n".join(f"| {what} | {figure} | {goal} | {reached} |" for what, figure, goal, reached in figures)
    return f"""{SECTION}
Generated by `tests/conformance/trace.py --torchvet target/debug/torchvet corpus/clean/* --markdown
tests/conformance/RESULTS.md`; do not edit. Each script runs on PyTorch, and every tensor that it assigns to a
name is compared with the fact of that line. *Full*: rank, dtype and device are known.

| figure | now | goal | reached |
| :-- | --: | --: | --: |
{rows}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scripts", nargs="+", type=pathlib.Path)
    parser.add_argument("--torchvet", help="path of the torchvet binary")
    parser.add_argument("--facts", type=pathlib.Path, help="the output of `torchvet facts --output-format json`, instead of running --torchvet")
    parser.add_argument("--show", action="store_true", help="print every assigned tensor and its fact")
    parser.add_argument("--list-unknown", action="store_true", help="print the assigned tensors without full facts")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one script; the values that it has assigned until then are compared")
    parser.add_argument("--enforce", action="store_true", help="exit with 1 on a contradiction, or if fewer than 85%% of the assigned tensors have full facts")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the figures to their section of this file")
    options = parser.parse_args()
    if not options.torchvet and not options.facts:
        parser.error("--torchvet or --facts is required")

    forks.import_once()
    cuda = False
    try:  # in a separate process, because CUDA does not work after a fork
        probe = [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"]
        cuda = subprocess.run(probe, capture_output=True, text=True).stdout.strip() == "True"
    except OSError:
        pass

    chosen, left_out = [], collections.Counter()
    for script in (path.resolve() for path in options.scripts):
        if script.name == "__pycache__" or entry_of(script) is None:
            continue
        wants = {word.strip() for text in texts_of(script) for line in NEEDS.findall(text) for word in re.split(r",|\\n", line)}
        wants = {re.sub(r"\W.*", "", word) for word in wants}
        if "data" in wants or "cuda" in wants and not cuda:
            left_out["data" if "data" in wants else "cuda"] += 1
        else:
            chosen.append(script)
    facts = collections.defaultdict(list)
    for fact in read_facts(options, chosen):
        facts[str(pathlib.Path(fact["filename"]).resolve()), fact.get("cell"), fact["name"]].append(fact)

    everything = []
    for script in chosen:
        observed = run(script, options.timeout)
        sites = [(tuple(site), [tuple(value) for value in values]) for site, values in observed["sites"]]
        result = compare(sites, facts, cuda)
        everything.append(result)
        share = f"{100 * result.full / result.tensors:3.0f}%" if result.tensors else "   -"
        stopped = f"  (stopped: {observed['stopped']})" if observed["stopped"] else ""
        print(f"{share}  {result.full:3} of {result.tensors:3}  {script.name}{stopped}", flush=True)
        shown = result.lines if options.show else result.lacking if options.list_unknown else []
        for line in shown:
            print("        " + line.replace(str(script.parent) + "/", ""))

    contradictions = [line for result in everything for line in result.contradictions]
    sometimes = [line for result in everything for line in result.sometimes]
    print(f"\nfacts that hold only in some executions: {len(sometimes)}")
    for line in sometimes:
        print("  " + line)
    print(f"\nCONTRADICTIONS: {len(contradictions)}")
    for line in contradictions:
        print("  " + line)
    tensors, full = sum(r.tensors for r in everything), sum(r.full for r in everything)
    named = sum(r.named for r in everything)
    share = full / tensors if tensors else 1.0
    print(f"\n{len(chosen)} scripts on {'CUDA' if cuda else 'the CPU'}; left out: {left_out['data']} need data, {left_out['cuda']} need CUDA")
    print(f"{tensors} assignments of tensors: {full} ({100 * share:.1f}%) have a known rank, dtype and device; {named} also have only known dimensions")
    print(f"{len(contradictions)} contradictions (goal: 0); {100 * share:.1f}% fully known (goal: at least {100 * GOAL:.0f}%)")
    if options.markdown:
        text = options.markdown.read_text(encoding="utf-8").split("\n" + SECTION)[0].rstrip("\n")
        figures = [
            ("facts that the run contradicts", len(contradictions), "0", "**no**" if contradictions else "yes"),
            ("assigned tensors with full facts", f"{full} of {tensors} ({100 * share:.1f}%)", "at least 85%", "yes" if share >= GOAL else "**no**"),
            ("... and every dimension", f"{named} of {tensors} ({100 * named / max(tensors, 1):.1f}%)", "", ""),
            ("scripts that ran", len(chosen), "", ""),
        ]
        options.markdown.write_text(f"{text}\n\n{section(figures)}", encoding="utf-8")
    return 1 if options.enforce and (contradictions or share < GOAL) else 0


if __name__ == "__main__":
    sys.exit(main())
