"""Compares torchvet's facts and findings about the generated samples with PyTorch's results.

    python tests/conformance/compare.py --torchvet target/debug/torchvet --work DIR
        [--op NAME] [--list-unknown] [--list-missed] [--markdown tests/conformance/RESULTS.md] [--enforce]

generate.py has written DIR; `torchvet facts` and `torchvet check` run once each on it. Prints the
number of facts about the samples that are exact, partly known, unknown and WRONG, and the number of
rejected calls that are reported. Also prints every wrong fact, and every report on a call that
PyTorch accepts.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

REPORT = re.compile(r"TV[1-4]\d*$")
STATUSES = ("exact", "partly", "unknown", "wrong")
GOALS = {"exact": 0.92, "rejected": 0.75}
TRACED = "\n## Scripts of the corpus\n"  # the part that trace.py wrote into the same file is kept


# Output of torchvet ---------------------------------------------------------------------------


def ask(binary, verb, work, paths):
    """The JSON output of one of torchvet's commands for these paths."""
    command = [binary, verb, "--output-format", "json", *map(str, paths)]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.strip()[-2000:]}")
    try:
        return json.loads(done.stdout or "[]")
    except ValueError as error:
        sys.exit(f"{' '.join(command)}: no JSON: {error}\n{done.stdout[:500]}")


class Places:
    """Turns the file names that torchvet prints into paths relative to DIR."""

    def __init__(self, work):
        self.root = work.resolve()
        self.known = {}

    def relative(self, filename):
        if filename not in self.known:
            path = pathlib.Path(filename)
            path = (path if path.is_absolute() else self.root / path).resolve()
            try:
                self.known[filename] = path.relative_to(self.root).as_posix()
            except ValueError:
                self.known[filename] = filename
        return self.known[filename]


# One value ------------------------------------------------------------------------------------


def compare_tensor(expected, fact):
    """(status, fault) of a tensor."""
    known, complete = False, True
    shape = fact.get("shape")
    if shape is None:
        complete = False
    else:
        known = True
        if len(shape) != len(expected["shape"]):
            return "wrong", f"shape {shape}, PyTorch: {expected['shape']}"
        for ours, theirs in zip(shape, expected["shape"]):
            if not isinstance(ours, int):
                complete = False
            elif ours != theirs:
                return "wrong", f"shape {shape}, PyTorch: {expected['shape']}"
    dtype = fact.get("dtype")
    if isinstance(dtype, list):  # one of several dtypes
        if expected["dtype"] not in dtype:
            return "wrong", f"dtype one of {dtype}, PyTorch: {expected['dtype']}"
        complete = False
    elif dtype is None:
        complete = False
    elif dtype.removeprefix("torch.") != expected["dtype"]:
        return "wrong", f"dtype {dtype}, PyTorch: {expected['dtype']}"
    else:
        known = True
    device = fact.get("device")
    if isinstance(device, str) and re.match(r"(cpu|cuda|mps|xpu|meta)\b", device):
        if device.split(":")[0] != expected.get("device", "cpu"):
            return "wrong", f"device {device}, PyTorch: {expected.get('device')}"
    return ("exact" if complete else "partly" if known else "unknown"), ""


def compare_value(expected, fact):
    """(status, fault) of any value."""
    kind = (fact or {}).get("kind", "unknown")
    if kind == "unknown":
        return "unknown", ""
    if expected["kind"] == "tensor":
        if kind == "tensor":
            return compare_tensor(expected, fact)
        return "wrong", f"{kind}, PyTorch: tensor {expected['shape']}"
    if expected["kind"] == "tuple":
        if kind not in ("tuple", "list", "namedtuple", "sequence"):
            return "wrong", f"{kind}, PyTorch: tuple of {len(expected['items'])}"
        items = fact.get("items")
        if items is None:
            return "unknown", ""
        if len(items) != len(expected["items"]):
            return "wrong", f"{len(items)} items, PyTorch: {len(expected['items'])}"
        return together([compare_value(theirs, ours) for theirs, ours in zip(expected["items"], items)])
    if kind in ("number", "object", "any"):
        return "partly", ""
    if kind != expected["kind"]:
        return "wrong", f"{kind}, PyTorch: {expected['kind']}"
    if "value" in expected and fact.get("value") is not None and fact["value"] != expected["value"]:
        return "wrong", f"{fact['value']}, PyTorch: {expected['value']}"
    return "exact", ""


def together(results):
    """The common status of several results of one call."""
    statuses = [status for status, _ in results]
    for status, reason in results:
        if status == "wrong":
            return "wrong", reason
    if not statuses or all(status == "exact" for status in statuses):
        return "exact", ""
    return ("unknown" if all(status == "unknown" for status in statuses) else "partly"), ""


def has_tensor(value):
    return value["kind"] == "tensor" or any(map(has_tensor, value.get("items", ())))


# All samples ------------------------------------------------------------------------------------


class Comparison:
    def __init__(self, records, facts, diagnostics, places):
        self.samples = [r for r in records if r["variant"] != "error"]
        self.errors = [r for r in records if r["variant"] == "error"]
        self.status = {}  # id of a record -> (status, reason)
        self.said = {}  # id of a record -> the facts that were compared
        self.false_reports = []
        self.advice = collections.Counter()
        self.judge_samples(facts, places)
        self.judge_reports(diagnostics, places)

    def judge_samples(self, facts, places):
        by_name = {}
        for fact in facts:
            key = (places.relative(fact["filename"]), fact["name"])
            by_name.setdefault(key, []).append(fact)
        for record in self.samples:
            results, said = [], {}
            for name, expected in record["names"].items():
                found = None
                for fact in by_name.get((record["file"], name), ()):
                    if record["line"] <= fact["location"]["row"] <= record["end_line"]:
                        found = fact["value"]
                said[name] = found
                results.append(compare_value(expected, found))
            self.status[id(record)] = together(results)
            self.said[id(record)] = said

    def judge_reports(self, diagnostics, places):
        reports = collections.defaultdict(list)
        for diagnostic in diagnostics:
            file = places.relative(diagnostic["filename"])
            grave = diagnostic.get("severity", "error") in ("error", "warning")
            if REPORT.match(diagnostic.get("code") or "") and grave:
                reports[file].append(diagnostic)
            elif not file.startswith("errors/"):
                self.advice[diagnostic.get("code")] += 1
        self.found, self.elsewhere = set(), set()
        for record in self.errors:
            rows = [(d["location"]["row"], (d.get("end_location") or d["location"])["row"]) for d in reports.get(record["file"], ())]
            if any(first <= record["line"] <= last for first, last in rows):
                self.found.add(id(record))
            elif rows:
                self.elsewhere.add(id(record))
        by_file = collections.defaultdict(list)
        for record in self.samples:
            by_file[record["file"]].append(record)
        for file in sorted(reports):
            if file.startswith("errors/"):
                continue
            for diagnostic in reports[file]:
                row = diagnostic["location"]["row"]
                record = next((r for r in by_file[file] if r["line"] <= row <= r["end_line"]), None)
                self.false_reports.append((file, row, diagnostic, record))

    def counts(self, wanted):
        return collections.Counter(self.status[id(r)][0] for r in self.samples if wanted(r))

    def by_op(self):
        """op -> (counts of the tensor-valued samples, rejected calls, those reported, false reports)."""
        table = {}
        row = lambda op: table.setdefault(op, [collections.Counter(), 0, 0, 0])
        for record in self.samples:
            if tensor_valued(record):
                row(record["op"])[0][self.status[id(record)][0]] += 1
        for record in self.errors:
            if record["group"] != "variants":
                row(record["op"])[1] += 1
                row(record["op"])[2] += id(record) in self.found
        for file, _, _, record in self.false_reports:
            row(record["op"] if record else pathlib.PurePath(file).stem)[3] += 1
        return table


def tensor_valued(record):
    return any(map(has_tensor, record["names"].values()))


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def overview(comparison):
    """The table of numbers: the header, then the rows."""
    groups = [
        ("op_db", lambda r: r["group"] == "op_db" and tensor_valued(r)),
        ("module_db", lambda r: r["group"] == "module_db" and tensor_valued(r)),
        ("op_db, other values", lambda r: r["group"] == "op_db" and not tensor_valued(r)),
    ]
    for dtype in ("float32", "int64", "bool", "complex64"):
        groups.append((f"op_db, {dtype}", lambda r, d=dtype: r["group"] == "op_db" and r["dtype"] == d and tensor_valued(r)))
    for variant in ("function", "method", "inplace", "operator", "augmented", "alias"):
        groups.append((f"op_db, {variant}", lambda r, v=variant: r["group"] == "op_db" and r["variant"] == v and tensor_valued(r)))
    rows = []
    for title, wanted in groups:
        counts = comparison.counts(wanted)
        total = sum(counts.values())
        if total:
            rows.append([title, total, *(counts[s] for s in STATUSES), share(counts["exact"], total)])
    return ["samples", "all", *STATUSES, "exact share"], rows


def error_overview(comparison):
    rows = []
    for group in ("op_db", "module_db", "variants"):
        records = [r for r in comparison.errors if r["group"] == group]
        if records:
            found = sum(id(r) in comparison.found for r in records)
            elsewhere = sum(id(r) in comparison.elsewhere for r in records)
            title = "in-place spellings of op_db" if group == "variants" else group
            rows.append([title, len(records), found, elsewhere, share(found, len(records))])
    return ["rejected calls", "all", "reported", "reported on another line", "share"], rows


def text_table(header, rows):
    columns = [[str(row[i]) for row in [header, *rows]] for i in range(len(header))]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in [header, *rows]:
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown_table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| :-- |" + " --: |" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def op_rows(comparison, incomplete_only):
    rows = []
    for op, (counts, errors, found, false) in comparison.by_op().items():
        total = sum(counts.values())
        if incomplete_only and counts["exact"] == total and found == errors and not false:
            continue
        rows.append([op, total, *(counts[s] for s in STATUSES), errors, found, false])
    rows.sort(key=lambda r: (-(r[5] + r[8]), -(r[3] + r[4]), r[0]))
    return ["operator", "samples", *STATUSES, "rejected", "reported", "false reports"], rows


def headline(comparison):
    """(description, number, goal, whether it is reached) of each goal."""
    lines = []
    for group in ("op_db", "module_db"):
        counts = comparison.counts(lambda r: r["group"] == group and tensor_valued(r))
        total = sum(counts.values())
        if total:
            reached = counts["exact"] >= GOALS["exact"] * total
            lines.append((f"{group}: exact shape and dtype", f"{counts['exact']} of {total} ({share(counts['exact'], total)})", "at least 92%", reached))
        wrong = comparison.counts(lambda r: r["group"] == group)["wrong"]
        lines.append((f"{group}: wrong facts", str(wrong), "0", wrong == 0))
        errors = [r for r in comparison.errors if r["group"] == group]
        if errors:
            found = sum(id(r) in comparison.found for r in errors)
            reached = found >= GOALS["rejected"] * len(errors)
            lines.append((f"{group}: rejected calls reported", f"{found} of {len(errors)} ({share(found, len(errors))})", "at least 75%", reached))
    false = len(comparison.false_reports)
    lines.append(("accepted calls reported", str(false), "0", false == 0))
    return lines


def contradicted(comparison):
    """The operators for which PyTorch contradicts torchvet."""
    wrong = {r["op"] for r in comparison.samples if comparison.status[id(r)][0] == "wrong"}
    return wrong | {r["op"] if r else pathlib.PurePath(file).stem for file, _, _, r in comparison.false_reports}


def brief(fact):
    if fact is None:
        return "no fact"
    return json.dumps(fact, ensure_ascii=False)[:160]


def print_details(comparison, options):
    wrong = [r for r in comparison.samples if comparison.status[id(r)][0] == "wrong"]
    print(f"\nWRONG facts: {len(wrong)}")
    for record in wrong[: options.most]:
        print(f"  {record['file']}:{record['end_line']}: {record['source']}\n      {comparison.status[id(record)][1]}")
    print(f"\nfalse reports: {len(comparison.false_reports)}")
    for file, row, diagnostic, record in comparison.false_reports[: options.most]:
        source = record["source"] if record else ""
        print(f"  {file}:{row}: {source}\n      {diagnostic.get('code')} {diagnostic.get('message', '')}")
    if comparison.advice:
        print("\nother reports on accepted samples:", ", ".join(f"{code} {n}" for code, n in comparison.advice.most_common()))
    if options.list_unknown:
        rest = [r for r in comparison.samples if comparison.status[id(r)][0] in ("unknown", "partly") and tensor_valued(r)]
        print(f"\nunknown or partly known: {len(rest)}")
        for record in rest[: options.most]:
            print(f"  {record['file']}:{record['end_line']}: {record['source']}")
            for name, expected in record["names"].items():
                said = comparison.said[id(record)][name]
                if compare_value(expected, said)[0] != "exact":
                    print(f"      {name}: {brief(said)}; PyTorch: {brief(expected)}")
    if options.list_missed:
        missed = [r for r in comparison.errors if id(r) not in comparison.found]
        print(f"\nrejected calls that are not reported: {len(missed)}")
        for record in missed[: options.most]:
            where = " (reported on another line)" if id(record) in comparison.elsewhere else ""
            print(f"  {record['file']}:{record['line']}: {record['source']}{where}\n      {record['exception']}: {record['message']}")


def markdown(comparison, torch_version):
    goals = [[what, figure, goal, "yes" if reached else "**no**"] for what, figure, goal, reached in headline(comparison)]
    parts = [
        "# Conformance with PyTorch",
        "",
        "Generated by `tests/conformance/compare.py --markdown`; do not edit. The samples are those of",
        f"`op_db` and `module_db` of PyTorch {torch_version}, written as code by `tests/conformance/generate.py`.",
        "*exact*: shape and dtype agree with PyTorch; *partly*: the known part agrees; *wrong*: PyTorch contradicts the fact.",
        "",
        markdown_table(["figure", "now", "goal", "reached"], goals),
        "",
        markdown_table(*overview(comparison)),
        "",
        markdown_table(*error_overview(comparison)),
        "",
        "## Operators that are not complete",
        "",
        markdown_table(*op_rows(comparison, incomplete_only=True)),
    ]
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torchvet", required=True, help="path of the torchvet binary")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="the folder that generate.py has written")
    parser.add_argument("--op", nargs="*", default=[], help="only operators or modules of these names (or NAME* for a prefix)")
    parser.add_argument("--list-unknown", action="store_true", help="list the samples whose facts are not complete")
    parser.add_argument("--list-missed", action="store_true", help="list the rejected calls that are not reported")
    parser.add_argument("--most", type=int, default=1000, help="largest number of entries to print of each list")
    parser.add_argument("--worst", type=int, default=40, help="number of operators to print in the list of incomplete operators")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables to this file")
    parser.add_argument(
        "--enforce", action="store_true", help="exit with 1 if a fact is wrong, an accepted call is reported or a goal is missed"
    )
    options = parser.parse_args()

    lines = (options.work / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    header, *records = map(json.loads, lines)
    if options.op:
        named = lambda op: any(op == n or n.endswith("*") and op.startswith(n[:-1]) for n in options.op)
        records = [r for r in records if named(r["op"])]
        if not records:
            parser.error("no operator or module of that name")
        files = sorted({r["file"] for r in records})
        accepted, every = [f for f in files if not f.startswith("errors/")], files
    else:
        accepted = [part for part in ("ops", "modules") if (options.work / part).is_dir()]
        every = [*accepted, *(["errors"] if (options.work / "errors").is_dir() else [])]
    binary = str(pathlib.Path(options.torchvet).resolve())
    places = Places(options.work)
    facts = ask(binary, "facts", options.work, accepted) if accepted else []
    comparison = Comparison(records, facts, ask(binary, "check", options.work, every), places)

    for table in (overview(comparison), error_overview(comparison)):
        if table[1]:
            print(text_table(*table), end="\n\n")
    rows = op_rows(comparison, incomplete_only=True)
    print(f"incomplete operators, the worst first ({min(options.worst, len(rows[1]))} of {len(rows[1])}):")
    print(text_table(rows[0], rows[1][: options.worst]))
    print_details(comparison, options)
    print()
    goals = headline(comparison)
    for what, figure, goal, reached in goals:
        print(f"{'ok    ' if reached else 'MISSED'} {what}: {figure}; goal: {goal}")
    if options.markdown:
        text = options.markdown.read_text(encoding="utf-8") if options.markdown.exists() else ""
        _, heading, traced = text.partition(TRACED)
        text = markdown(comparison, header["torch"]) + heading + traced
        options.markdown.write_text(text, encoding="utf-8")
    bad = contradicted(comparison)
    every = {r["op"] for r in records} | bad
    print(f"operators and modules that PyTorch contradicts: {', '.join(sorted(bad)) or 'none'}")
    print(f"{len(every) - len(bad)} passed, {len(bad)} failed")
    missed = not options.op and not all(reached for *_, reached in goals)
    return 1 if options.enforce and (bad or missed) else 0


if __name__ == "__main__":
    sys.exit(main())
