"""Counts the bugs fixed by real commits that torchvet finds before the fix, but not after it.

    python tests/commits.py --torchvet target/release/torchvet FOLDER [--only REGEX]

FOLDER contains `list.tsv` and, for each of its lines, `NUMBER/before` and `NUMBER/after`: the
repository at the parent of the commit and at the commit. The columns of `list.tsv` are number,
repository, commit, date, file, lines (of the bug, in `before`), difficulty, and a description of
the bug. Such a folder contains other people's code, so this repository has none.

A bug is a *hit* if a finding of `before` is within two lines of it, and `after` no longer has this
finding. It is *still* if `after` has the finding, too, *elsewhere* if only findings at other places
are gone, *failed* if torchvet crashed or took too long, and a *miss* otherwise.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

NEAR = 2  # lines


def findings(torchvet, folder):
    """File, line, code, message and source line of each finding; None if the checker timed out or
    crashed."""
    command = [torchvet, "check", "--isolated", "--output-format", "json", "."]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=180)
        found = json.loads(run.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None
    out = []
    for finding in found:
        file, row = os.path.normpath(finding["filename"]), finding["location"]["row"]
        lines = pathlib.Path(folder, file).read_text(errors="replace").split("\n")
        text = lines[row - 1].strip() if row <= len(lines) else ""
        out.append((file, row, finding["code"], finding["message"], text))
    return out


def judge(torchvet, folder, row):
    number, _, _, _, file, lines = row[:6]
    before, after = (findings(torchvet, folder / number / side) for side in ("before", "after"))
    if before is None or after is None:
        return "failed", []
    kept = collections.Counter((file, code, text) for file, _, code, _, text in after)
    gone = []
    for finding in before:
        key = (finding[0], finding[2], finding[4])
        if kept[key]:
            kept[key] -= 1
        else:
            gone.append(finding)
    places = [int(line) for line in re.findall(r"\d+", lines)]
    is_near = lambda f: f[0] == os.path.normpath(file) and any(abs(f[1] - place) <= NEAR for place in places)
    if hits := [finding for finding in gone if is_near(finding)]:
        return "hit", hits
    if still := [finding for finding in before if is_near(finding)]:
        return "still", still
    return ("elsewhere", gone) if gone else ("miss", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--torchvet", default="target/release/torchvet")
    parser.add_argument("--only", default="", help="only the bugs whose number matches this")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    torchvet = os.path.abspath(arguments.torchvet)
    with open(arguments.folder / "list.tsv", newline="", encoding="utf-8") as text:
        rows = [row for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    rows = [row for row in rows if re.search(arguments.only, row[0])]
    count = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, (verdict, shown) in zip(rows, pool.map(lambda row: judge(torchvet, arguments.folder, row), rows)):
            count[verdict] += 1
            print(f"{verdict:9} {row[0]} {row[1]} {row[4]}:{row[5]}: {row[-1]}")
            for file, line, code, message, _ in shown[:4]:
                print(f"          {file}:{line} {code} {message}")
    print(", ".join(f"{n} {verdict}" for verdict, n in count.most_common()), f"of {len(rows)}")


if __name__ == "__main__":
    sys.exit(main())
