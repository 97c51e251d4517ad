"""Compares the time and the peak memory of torchvet and ruff on the same folders.

    cargo build --release
    python tests/bench.py TREE ... [--wheel NAME ...] [--runs N]

--wheel downloads the newest wheel of that name from the package index (with pip, without
dependencies) and unpacks it in target/bench. ruff must be installed beside this Python or on the
path (`pip install ruff`); it runs its default rules as `ruff check --no-cache --isolated`. The
output of both is discarded.

The runs of torchvet and ruff alternate. A first run of each warms up the file cache; the median and
the fastest of the other runs are shown. The memory is the peak of the process.
"""

import argparse
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def unpacked(name):
    """The folder with the files of a wheel."""
    folder = ROOT / "target" / "bench" / name
    if not folder.exists():
        wheels = folder.with_suffix(".wheels")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(wheels), name], check=True)
        for wheel in wheels.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(folder)
        shutil.rmtree(wheels)
    return folder


def find_ruff():
    beside = pathlib.Path(sys.executable).parent / "ruff"
    return str(beside) if beside.exists() else shutil.which("ruff")


def measure(command):
    """(seconds, peak memory in MiB, standard error) of one run."""
    with open(os.devnull, "wb") as nowhere:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=subprocess.PIPE)
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{said}")
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_maxrss / unit, said


def size_of(tree):
    """(files, lines) of Python in a tree."""
    files = [tree] if tree.is_file() else sorted(tree.rglob("*.py"))
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="*", type=pathlib.Path, metavar="TREE")
    parser.add_argument("--wheel", nargs="*", default=[], metavar="NAME", help="also download and check these packages")
    parser.add_argument("--torchvet", default=str(ROOT / "target" / "release" / "torchvet"))
    parser.add_argument("--ruff", default=find_ruff())
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_intermixed_args()
    trees = [*options.trees, *map(unpacked, options.wheel)] or [ROOT / "corpus"]

    commands = {"torchvet": [options.torchvet, "check", "--isolated", "--quiet", "--output-format", "concise"]}
    if options.ruff:
        commands["ruff"] = [options.ruff, "check", "--no-cache", "--isolated", "--quiet", "--output-format", "concise"]
    else:
        print("ruff was not found: `pip install ruff`", file=sys.stderr)
    for name, command in commands.items():
        version = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True)
        print(version.stdout.strip())
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}; {options.runs} runs each\n")

    header = ["tree", "files", "lines"]
    for name in commands:
        header += [f"{name}: median", "fastest", "memory"]
    print("| " + " | ".join(header) + " |\n| :-- |" + " --: |" * (len(header) - 1), flush=True)
    phases = []
    for tree in trees:
        runs = {name: [] for name in commands}
        for number in range(options.runs + 1):
            for name, command in commands.items():
                result = measure([*command, str(tree)])
                if number:
                    runs[name].append(result)
        files, lines = size_of(tree)
        row = [tree.name, str(files), f"{lines:,}".replace(",", " ")]
        for name in commands:
            seconds = [run[0] for run in runs[name]]
            memory = max(run[1] for run in runs[name])
            row += [f"{statistics.median(seconds):.3f} s", f"{min(seconds):.3f} s", f"{memory:.0f} MiB"]
        print("| " + " | ".join(row) + " |", flush=True)
        verbose = [part for part in commands["torchvet"] if part != "--quiet"]
        said = measure([*verbose, "--verbose", str(tree)])[2]
        phases.append(f"{tree.name}: {next((line for line in said.splitlines() if line.startswith('walk ')), said)}")
    print("\ntorchvet's phases, one run:")
    print("\n".join(phases))


if __name__ == "__main__":
    main()
