"""Compares torchvet's claims about random programs with CPython and PyTorch.

    python tests/random_programs --torchvet target/release/torchvet [--seed 1] [--count 1000] [--jobs 1]
        [--without generators,finally] [--skip REGEX] [--reduce] [--keep DIR] [--most 40]

With the same options, program N is always the same: `--seed N --count 1` generates it again, and
`--print` prints it. Each program runs with several seeds for its data, and all assignments are
recorded. Each fact of `torchvet facts` must hold whenever its line runs; each assignment that runs
must have a fact; and a line that raises according to `torchvet check` must raise in each run that
reaches it.
`--without` excludes features, so that known bugs do not hide others; `--features` lists the
features. `--skip` excludes simple statements whose template matches.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sys
import tempfile
import time
import warnings

if os.environ.get("PYTHONHASHSEED") != "0":  # a program depends on the order of its sets
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch

import blocks
import judge
import lines
import reduce
import run

CHUNK = 200
EXTRA = ("data", "empty", "escapes", "raises", "finally", "suppress", "global", "hooks")


def name_of(seed):
    return f"p{seed}.py"


class Tally:
    def __init__(self):
        self.programs = self.assignments = self.known = self.exact = self.crashed = 0
        self.counts = collections.Counter()
        self.failing = []  # (seed, source, contradictions)

    def add(self, other):
        for key in ("programs", "assignments", "known", "exact", "crashed"):
            setattr(self, key, getattr(self, key) + other[key])
        self.counts.update(other["counts"])
        self.failing += [
            (seed, source, [judge.Contradiction(*c) for c in found])
            for seed, source, found in other["failing"]
        ]


def chunk(seeds, options, say):
    """Generates, runs and judges some programs; calls `say` with each seed first."""
    tally = collections.Counter({key: 0 for key in ("programs", "assignments", "known", "exact", "crashed")})
    counts, failing, made = collections.Counter(), [], []
    with tempfile.TemporaryDirectory(prefix="random-programs-") as folder:
        for seed in seeds:
            if seed in options.known:
                continue
            say(seed)
            source = blocks.program(seed, options.without, options.skip)
            try:
                runs = run.runs_of(source, name_of(seed))
            except SyntaxError:  # a `return` or a name at a place where it is not allowed
                counts["programs that do not compile"] += 1
                continue
            pathlib.Path(folder, name_of(seed)).write_text(source, encoding="utf-8")
            made.append((seed, source, runs))
        said = judge.ask(options.torchvet, folder)
    for seed, source, runs in made:
        verdict = judge.judge(source, runs, said[name_of(seed)], options.allow_nan)
        tally.update(programs=1, assignments=verdict.assignments, known=verdict.known, exact=verdict.exact)
        counts.update(verdict.counts)
        if verdict.contradictions:
            failing.append((seed, source, verdict.contradictions))
    return {**tally, "counts": counts, "failing": failing}


def in_fork(work):
    """Starts `work(say)` in a new process; returns the process id, and the pipe with its lines."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.close(write)
        return child, os.fdopen(read, encoding="utf-8")
    os.close(read)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    with os.fdopen(write, "w", encoding="utf-8") as pipe:

        def say(value):
            pipe.write(json.dumps(value) + "\n")
            pipe.flush()

        status = 1
        try:
            say(work(say))
            status = 0
        except BaseException as error:
            say(f"{type(error).__name__}: {error}")
            sys.excepthook(*sys.exc_info())
    os._exit(status)


def judged(options):
    """Runs all programs in several processes, each with a chunk of the programs."""
    tally, waiting, running = Tally(), collections.deque(), {}
    last = options.seed + options.count
    waiting.extend(range(first, min(first + CHUNK, last)) for first in range(options.seed, last, CHUNK))
    while waiting or running:
        while waiting and len(running) < options.jobs:
            seeds = waiting.popleft()
            child, pipe = in_fork(lambda say, seeds=seeds: chunk(seeds, options, say))
            running[child] = seeds, pipe
        child, (seeds, pipe) = next(iter(running.items()))
        said = [json.loads(line) for line in pipe.read().splitlines()]
        pipe.close()
        os.waitpid(child, 0)
        del running[child]
        if said and isinstance(said[-1], dict):
            tally.add(said[-1])
        elif said and isinstance(said[-1], str):
            sys.exit(f"seeds {seeds[0]} to {seeds[-1]}: {said[-1]}")
        else:  # the process died at the last seed that it named
            died = said[-1] if said else seeds[0]
            print(f"seed {died}: the run crashed", file=sys.stderr)
            tally.crashed += 1
            waiting.extendleft(
                part for part in (range(died + 1, seeds[-1] + 1), range(seeds[0], died)) if part
            )
        if options.progress:
            print(f"{tally.programs} programs, {len(tally.failing)} failing", file=sys.stderr, flush=True)
    return tally


# Reducing -------------------------------------------------------------------------------------


def verdict_of(source, options):
    with tempfile.TemporaryDirectory(prefix="random-programs-") as folder:
        pathlib.Path(folder, "p.py").write_text(source, encoding="utf-8")
        runs = run.runs_of(source, "p.py")
        return judge.judge(source, runs, judge.ask(options.torchvet, folder)["p.py"], options.allow_nan)


def shows(source, wanted, options):
    """The program's contradiction of this kind, if it has one."""
    try:
        found = verdict_of(source, options).contradictions
    except (SyntaxError, RuntimeError):
        return None
    alike = [c for c in found if (c.kind, c.name, c.about) == (wanted.kind, wanted.name, wanted.about)]
    return alike[0] if alike else None


def shortest(source, wanted, options):
    """Reduces a program in a new process. Returns the text and its contradiction."""

    def work(say):
        text = reduce.reduced(source, lambda smaller: shows(smaller, wanted, options) is not None)
        return [text, shows(text, wanted, options)]

    child, pipe = in_fork(work)
    said = [json.loads(line) for line in pipe.read().splitlines()]
    pipe.close()
    os.waitpid(child, 0)
    if said and isinstance(said[-1], list) and said[-1][1]:
        return said[-1][0], judge.Contradiction(*said[-1][1])
    return source, wanted


def shape_of(text, row):
    """A line without numbers, also without those in names, to recognise programs that fail in the
    same way."""
    lines_of = text.splitlines()
    line = lines_of[row - 1] if 0 < row <= len(lines_of) else ""
    return re.sub(r"\d+", "_", line.strip())


def shown(number, seed, text, contradiction):
    what = {"fact": "wrong fact", "dead": "wrongly taken as unreachable", "report": "wrong report", "crash": "crash"}[
        contradiction.kind
    ]
    print(f"\n{number}. {what}, seed {seed}, line {contradiction.row}, {contradiction.name}")
    print(f"   torchvet: {contradiction.claim}\n   the run: {contradiction.seen}")
    print("\n".join("   | " + line for line in text.rstrip().splitlines()), flush=True)


def report(tally, options):
    """Shows one failing program for each kind of failure; with `--reduce`, reduces it."""
    groups = collections.defaultdict(list)
    for seed, source, found in tally.failing:
        for contradiction in found[:1]:  # later ones are mostly consequences of the first
            key = contradiction.kind, contradiction.about, shape_of(source, contradiction.row)
            groups[key].append((seed, source, contradiction))
    order = sorted(groups.values(), key=len, reverse=True)
    if not options.reduce:
        for cases in order[: options.most]:
            seed, source, contradiction = cases[0]
            line = source.splitlines()[contradiction.row - 1].strip()
            print(f"{len(cases)} x {contradiction.kind}, seed {seed}, line {contradiction.row}: {line}")
            print(f"    torchvet: {contradiction.claim}\n    the run: {contradiction.seen}")
        return
    known = set()
    for cases in order:
        if len(known) >= options.most:
            break
        seed, source, contradiction = min(cases, key=lambda case: len(case[1]))
        text, contradiction = shortest(source, contradiction, options)
        key = "\n".join(sorted(shape_of(text, row) for row in range(1, text.count("\n") + 1)))
        if key not in known:
            known.add(key)
            shown(len(known), seed, text, contradiction)


def warm():
    """Makes PyTorch load its lazy modules once for all processes."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(1, 1)
    for optimizer in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        layer(torch.ones(1, 1)).sum().backward()
        optimizer(layer.parameters(), lr=0.1).step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torchvet", default="target/release/torchvet", help="path of the torchvet binary")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first program")
    parser.add_argument("--count", type=int, default=1000, help="number of programs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--without", default="", metavar="FEATURES", help="exclude these features, separated by commas"
    )
    parser.add_argument("--only", default="", metavar="FEATURES", help="exclude all other features")
    parser.add_argument(
        "--skip",
        default="",
        metavar="REGEX",
        help="exclude simple statements whose template contains a match",
    )
    parser.add_argument(
        "--known",
        type=lambda text: {int(seed) for seed in text.split(",")},
        default=set(),
        metavar="SEEDS",
        help="exclude these programs, which are known to fail",
    )
    parser.add_argument("--allow-nan", action="store_true", help="accept NaN although a range is known")
    parser.add_argument("--features", action="store_true", help="only list the features")
    parser.add_argument("--print", action="store_true", help="only print the programs")
    parser.add_argument("--reduce", action="store_true", help="delete the statements without which a program still fails")
    parser.add_argument("--most", type=int, default=40, help="number of kinds of failure to show")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="write failing programs to this folder")
    parser.add_argument("--progress", action="store_true")
    options = parser.parse_args()
    features = sorted({*lines.TABLES, *(feature for feature, _ in blocks.BLOCKS.values()), *EXTRA})
    if options.features:
        print("\n".join(features))
        return 0
    split = {key: {word for word in getattr(options, key).split(",") if word} for key in ("without", "only")}
    if unknown := (split["without"] | split["only"]) - set(features):
        parser.error(f"no such feature: {', '.join(sorted(unknown))}")
    options.without = frozenset(
        split["without"] | (set(features) - split["only"] if split["only"] else set())
    )
    options.torchvet = str(pathlib.Path(options.torchvet).resolve())
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    if options.print:
        for seed in range(options.seed, options.seed + options.count):
            print(f"# seed {seed}\n{blocks.program(seed, options.without, options.skip)}")
        return 0
    warm()
    begun = time.monotonic()
    tally = judged(options)
    spent = time.monotonic() - begun
    report(tally, options)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        for seed, source, found in tally.failing:
            notes = "".join(f"# line {c.row}: {c.name}: {c.claim} | {c.seen}\n" for c in found)
            (options.keep / name_of(seed)).write_text(source + notes, encoding="utf-8")
    kinds = collections.Counter(c.kind for _, _, found in tally.failing for c in found)
    known, exact = (100 * count / max(tally.assignments, 1) for count in (tally.known, tally.exact))
    print(
        f"\n{tally.programs} programs in {spent:.0f} s, {1000 * spent / max(tally.programs, 1):.1f} ms each; {tally.crashed} crashed"
    )
    print(f"{tally.assignments} assignments compared: {known:.1f}% have a known fact, {exact:.1f}% a known value")
    print(
        f"wrong facts: {kinds['fact']}; lines wrongly taken as unreachable: {kinds['dead']}; wrong reports: {kinds['report']}; crashes: {kinds['crash']}"
    )
    for what, count in sorted(tally.counts.items()):
        print(f"{what}: {count}")
    print(f"{tally.programs - len(tally.failing)} passed, {len(tally.failing)} failed")
    return 1 if tally.failing else 0


if __name__ == "__main__":
    sys.exit(main())
