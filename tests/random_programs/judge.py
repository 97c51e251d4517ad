"""Compares torchvet's facts and findings about programs with the runs of the programs."""

import ast
import collections
import json
import math
import os
import pathlib
import re
import subprocess

import rule_pages
from conformance import trace

agrees, brief, seen_text = trace.agrees, trace.brief, trace.seen_text

# The codes of the rules whose page quotes an exception on the CPU.
SAID = {page.code for page in rule_pages.read_all() if "cpu" in page.metadata}
# Errors of the subtracted rules may be silent: for example, TV109 also reports a loss that is always 0.
RAISING = SAID - {"TV109", "TV110", "TV112", "TV114", "TV115", "TV117", "TV118", "TV120"}
# A contradiction: `kind` is "fact", "dead", "report" or "crash"; `claim` is torchvet's claim.
Contradiction = collections.namedtuple("Contradiction", "kind row name claim seen about")


class OfFile:
    """torchvet's facts and findings about one program."""

    def __init__(self):
        self.facts = collections.defaultdict(list)  # name -> facts
        self.findings = []
        self.crash = None


def ask(torchvet, folder, paths=None):
    """torchvet's facts and findings about the programs of a folder, by file name."""
    said = collections.defaultdict(OfFile)
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "TORCHVET_COLOR": "never"}
    paths = paths or sorted(path.name for path in pathlib.Path(folder).glob("*.py"))
    for verb in ("facts", "check"):
        command = [torchvet, verb, "--output-format", "json", *paths]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode not in (0, 1):
            return halves(torchvet, folder, paths, verb, done)
        for entry in json.loads(done.stdout or "[]"):
            of_file = said[pathlib.PurePath(entry["filename"]).name]
            if verb == "facts":
                of_file.facts[entry["name"]].append(entry)
            else:
                of_file.findings.append(entry)
    return said


def halves(torchvet, folder, paths, verb, done):
    """After a crash, runs torchvet on each half of the files, until the file that causes the crash is found."""
    said = collections.defaultdict(OfFile)
    if len(paths) == 1:
        why = [line for line in done.stderr.splitlines() if line.strip()]
        said[
            paths[0]
        ].crash = f"torchvet {verb}: exit status {done.returncode}: {why[-1][:200] if why else ''}"
        return said
    middle = len(paths) // 2
    for half in (paths[:middle], paths[middle:]):
        said.update(ask(torchvet, folder, half))
    return said


# Facts ----------------------------------------------------------------------------------------

SCALARS = {"int", "float", "bool", "str"}


ROUNDING = {"bfloat16": 1e-2, "float16": 2e-3}


def near(a, b, rounding=1e-4):
    return a == b or math.isclose(a, b, rel_tol=rounding, abs_tol=1e-5)


def outside(span, low, high, rounding=1e-4):
    """`low` or `high` if it is outside the range of a fact, "nan" if one of them is NaN, None if both are
    inside."""
    least, most = span.get("min"), span.get("max")
    if math.isnan(low) or math.isnan(high):
        return "nan"
    if least is not None and low < least and not near(low, least, rounding):
        return low
    return high if most is not None and high > most and not near(high, most, rounding) else None


def scalar(fact, seen):
    kind = fact["kind"]
    if seen[0] == "array" and not seen[1]:
        return None  # torchvet may treat a scalar of NumPy as a number of Python
    if seen[0] != kind:
        return f"a {kind}, but it was {seen_text(seen)}"
    value, told = seen[1], fact.get("value")
    if value is None:
        return None
    if isinstance(told, str) != (kind == "str"):
        told = None  # a symbolic size
    if told is not None and told != value and not (kind == "float" and near(told, value)):
        return f"{told!r}, but it was {value!r}"
    if fact.get("range"):
        beyond = outside(fact["range"], value, value)
        return None if beyond is None else f"{kind} of range {span_text(fact)}, but it was {value!r}"
    return None


def span_text(fact):
    return f"{fact['range']['min']} to {fact['range']['max']}"


def disagrees(fact, seen):
    """The reason why a fact contradicts an observed value; None if it does not.

    The facts about a list describe its content at the end of the program, so only its type is
    compared."""
    kind = fact.get("kind", "unknown")
    if kind in ("unknown", "any") or seen[0] == "Field":  # a field of a dataclass has no value yet
        return None
    if kind in SCALARS:
        return scalar(fact, seen)
    if kind == "none":
        return None if seen[0] == "NoneType" else f"None, but it was {seen_text(seen)}"
    if kind in ("tensor", "array"):
        if seen[0] not in ("tensor", "array"):
            return f"a {kind}, but it was {text_of(seen)}"
        reason = agrees(fact, seen[:4], False)
        if reason:
            return reason
        if kind == "tensor" and fact.get("device") and not fact["device"].startswith(seen[3]):
            return f"device {fact['device']}, but it was {seen[3]}"
        told = fact.get("dtype")
        if told is not None and seen[0] == kind and told != seen[2]:
            return f"dtype {told}, but it was {seen[2]}"
        if (
            fact.get("range")
            and seen[4]
            and (beyond := outside(fact["range"], *seen[4], ROUNDING.get(seen[2], 1e-4))) is not None
        ):
            return f"range {span_text(fact)}, but it holds {beyond}"
        return None
    if kind == "list":
        return None if seen[0] in ("list", "Size", "deque") else f"a list, but it was {text_of(seen)}"
    if kind == "tuple":
        if seen[0] != "tuple":
            return f"a tuple, but it was {text_of(seen)}"
        items = fact.get("items")
        if items is None or len(seen) < 3:
            return None
        if len(items) < 64 and len(items) != seen[2]:
            return f"a tuple of {len(items)}, but it was one of {seen[2]}"
        return next(
            (
                f"item {i}: {reason}"
                for i, (f, s) in enumerate(zip(items, seen[1]))
                if (reason := disagrees(f, s))
            ),
            None,
        )
    if kind == "dtype":
        if seen[0].endswith("DType"):  # a scalar of NumPy
            return None
        return (
            None if seen == ("dtype", fact["value"]) else f"torch.{fact['value']}, but it was {text_of(seen)}"
        )
    if kind == "object":
        return other(fact, seen)
    return None


def other(fact, seen):
    if re.fullmatch(r"C\d+b?|Net\w+", fact.get("class", "")):
        return None if seen[0] == fact["class"] else f"a {fact['class']}, but it was {text_of(seen)}"
    if "class" in fact:
        if "namedtuple" in fact["class"]:
            return None if seen[0] == "tuple" else f"a {fact['class']}, but it was {text_of(seen)}"
        return (
            f"a {fact['class']}, but it was {text_of(seen)}"
            if seen[0] in SCALARS | {"NoneType", "tensor", "list", "tuple"}
            else None
        )
    text = fact.get("text", "")
    mark = {
        "{": ("dict", "set", "Counter", "defaultdict", "OrderedDict", "frozenset"),
        "function ": ("function", "method", "_lru_cache_wrapper"),
        "class ": ("type",),
    }
    for begin, types in mark.items():
        if text.startswith(begin) and seen[0] not in types:
            return f"{text[:30]}, but it was {text_of(seen)}"
    return None


def text_of(seen):
    if seen[0] in ("tensor", "array"):
        return seen_text(seen[:4])
    return f"{seen[0]} {seen[1]!r}" if len(seen) == 2 else seen[0]


def claim_of(fact):
    if fact.get("kind") in ("tensor", "array"):
        return brief({**fact, "kind": "tensor"}) + (f" in {span_text(fact)}" if fact.get("range") else "")
    return " ".join(str(fact[key]) for key in ("kind", "value", "class", "text") if fact.get(key) is not None)


def is_known(fact, seen):
    """Whether a fact is complete enough for the share of known facts. For a tensor or array, its dtype and
    its complete shape must be known."""
    kind = fact.get("kind")
    if seen[0] in ("tensor", "array"):
        return bool(fact.get("dtype") and fact.get("shape") is not None and None not in fact["shape"])
    return kind not in ("unknown", None)


# Reasons of `disagrees` for NaN, which is in no range: NaN itself, and the int64 or int32 to which
# PyTorch converts it.
NAN_AS_INTEGER = ("holds -9.223372036854776e+18", "holds -2147483648.0")
NAN = ("holds nan", *NAN_AS_INTEGER)


# Programs -------------------------------------------------------------------------------------


class Verdict:
    """The result of the comparison for one program."""

    def __init__(self):
        self.assignments = self.known = self.exact = 0
        self.contradictions = []
        self.counts = collections.Counter()


def judge(source, runs, said, nan_allowed=False):
    verdict = Verdict()
    if said.crash:
        verdict.contradictions.append(Contradiction("crash", 1, "torchvet", said.crash, "", ""))
        return verdict
    facts_judged(runs, said, verdict, nan_allowed)
    findings_judged(source, runs, said, verdict)
    missed(runs, said, verdict)
    return verdict


def is_of_nothing(seen):
    """Whether a value may have the default dtype because it was created from an empty list. README.md
    says that torchvet assumes that a list to which a loop appends has an element."""
    return seen[0] in ("tensor", "array") and seen[1] == (0,) and seen[2] in ("float32", "float64")


def facts_judged(runs, said, verdict, nan_allowed):
    sites = collections.defaultdict(dict)
    for run in runs:
        for site, values in run.sites.items():
            sites[site].update(values)
    # Whether a NaN was converted to an integer. It is then no longer visible in the values that are
    # computed from it.
    hidden = False
    for (_, _, first, last, name), values in sorted(sites.items(), key=lambda entry: entry[0][2]):
        here = [
            entry["value"] for entry in said.facts.get(name, ()) if first <= entry["location"]["row"] <= last
        ]
        verdict.assignments += 1
        if not here:
            verdict.contradictions.append(
                Contradiction("dead", first, name, "never run", text_of(next(iter(values))), "never run")
            )
            continue
        if len(here) > 1:
            verdict.counts["facts of one name on one line, not compared"] += 1
            continue
        [fact] = here
        verdict.known += is_known(fact, next(iter(values)))
        verdict.exact += fact.get("value") is not None or bool(
            fact.get("range") and fact["range"]["min"] == fact["range"]["max"]
        )
        for seen in values:
            reason = disagrees(fact, seen)
            if reason and is_of_nothing(seen):
                verdict.counts["facts about tensors that were created from empty lists"] += 1
            elif reason and nan_allowed and reason.endswith(NAN):
                hidden = hidden or reason.endswith(NAN_AS_INTEGER)
                verdict.counts["ranges of values that contain NaN"] += 1
            elif reason and hidden and "but it holds" in reason:
                verdict.counts["ranges of values that may come from NaN"] += 1
            elif reason:
                about = re.sub(r"-?\d[\d.e+-]*|'[^']*'|\[.*?\]", "_", reason)
                verdict.contradictions.append(
                    Contradiction("fact", first, name, claim_of(fact), reason, about)
                )
                break


def ended_before(run, runs, rows, reported):
    """Whether a run may have ended before the call or the round that an error on `rows` is about:
    an earlier call or round succeeded, and the run ended elsewhere. This is assumed only if another
    run raised on `rows`, or if this run ended at another error of torchvet."""
    row = run.stopped and run.stopped[2]
    if not row or row in rows or not run.reached & rows <= run.again:
        return False
    return row in reported or any(other.raised & rows for other in runs)


def rows_of(place):
    return set(range(place["location"]["row"], place["end_location"]["row"] + 1))


def start_of(place):
    return place["location"]["row"], place["location"]["column"] - 1


def made(run, finding):
    """Whether a run reached the error's line in the calls and in the iteration that it is about: the
    labels name the lines of the calls, and the message says if a second iteration is needed."""
    rows = rows_of(finding)
    if "from the second iteration of the loop on" in finding["message"] and not run.twice & rows:
        return False
    calls = [rows_of(label) for label in finding["labels"] if "called from here" in label["message"]]
    return all(any((row, at) in run.under for row in rows for at in call) for call in calls)


def optional_parts(source):
    """The parts of expressions that a line may leave out: operands of `and` and `or`, the arms of a
    conditional expression, and the bodies of comprehensions and lambdas."""
    parts = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.BoolOp(values=[_, *rest]):
                parts += rest
            case ast.IfExp(body=body, orelse=orelse):
                parts += [body, orelse]
            case ast.ListComp(elt=elt) | ast.SetComp(elt=elt) | ast.GeneratorExp(elt=elt):
                parts.append(elt)
            case ast.DictComp(key=key, value=value):
                parts += [key, value]
            case ast.Lambda(body=body):
                parts.append(body)
    return [((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)) for part in parts]


def findings_judged(source, runs, said, verdict):
    optional = optional_parts(source)
    reported = {f["location"]["row"] for f in said.findings if f["severity"] == "error"}
    for finding in said.findings:
        code, severity = finding["code"], finding["severity"]
        verdict.counts[f"{severity}s"] += 1
        if severity != "error":
            continue
        if code not in RAISING:
            verdict.counts["errors that raise no exception"] += 1
            continue
        rows = rows_of(finding)
        ran = [run for run in runs if run.reached & rows]
        if not ran:
            verdict.counts["errors on lines that no run reached"] += 1
            continue
        passed = [run for run in ran if not run.raised & rows]
        contrary = [run for run in passed if made(run, finding) and not ended_before(run, runs, rows, reported)]
        if not passed:
            verdict.counts["errors that hold"] += 1
        elif any(first <= start_of(finding) < last for first, last in optional):
            verdict.counts["errors in parts of lines that the run may have left out"] += 1
        elif not contrary:
            verdict.counts["errors about a later call or round, which no run reached"] += 1
        else:
            harmless = len(passed)
            seen = f"ran without an exception in {harmless} of {len(ran)} runs"
            row = finding["location"]["row"]
            verdict.contradictions.append(
                Contradiction("report", row, code, f"{code}: {finding['message']}", seen, code)
            )


def missed(runs, said, verdict):
    """Counts the runs that an exception stopped, and those among them that PyTorch stopped at a line
    without a reported error."""
    rows = {finding["location"]["row"] for finding in said.findings if finding["severity"] == "error"}
    for run in runs:
        if run.stopped and run.stopped[0] in ("RuntimeError", "IndexError") and run.stopped[2]:
            verdict.counts["runs stopped by PyTorch"] += 1
            verdict.counts["... without a reported error on the line"] += run.stopped[2] not in rows
        elif run.stopped:
            verdict.counts["runs stopped by another exception"] += 1
