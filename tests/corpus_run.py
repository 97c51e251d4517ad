"""Checks the expectations of the corpus with PyTorch.

    python tests/corpus_run.py [--python PATH] [--jobs N] [--timeout S] [part of a name ...]

Every script of corpus/clean must run to its end. A script of corpus/buggy must raise at the line
where its comment expects an error (`# error: TV103`). If it expects only warnings, infos, and errors
whose harm PyTorch does not report (SILENT below), it may run to its end, or raise at a line with an
expectation; then only a reader can check whether the expectation is right.

Scripts that need more than a Python with torch say so in their first lines: `# needs: data` (a
download, or a library or files that are not available), `# needs: cuda`, and names of modules
(`# needs: pandas, sklearn`). Scripts that need data are left out. Scripts that need a GPU or a module
are left out if it is missing. Scripts that start processes (`# needs: processes`) are run here, but not
compared under the probe.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

import forks
import rule_pages

ROOT = pathlib.Path(__file__).resolve().parent.parent / "corpus"
ENTRY = ("train.py", "main.py")
EXPECTED = re.compile(r"#\s*(error|warning|info):\s*((?:TV\d{3})(?:\s*,\s*TV\d{3})*)")
NEEDS = re.compile(r"^#\s*needs:\s*(.+)$", re.MULTILINE)
# Rules whose harm PyTorch does not report, at least on the CPU: the expectation is based on reading
# the script, and on the Evidence of the rule's page. TV109's Example raises, but float targets with
# the shape of the logits cause a loss of 0.
SILENT = {"TV109"} | {page.code for page in rule_pages.read_all() if "cpu" not in page.metadata}


def cells(path):
    """The code cells of a notebook as (name, source), with `pass` in place of magics."""
    book = json.loads(path.read_text(encoding="utf-8"))
    for number, cell in enumerate(book["cells"], 1):
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).split("\n")
            lines = ["pass" if re.match(r"\s*[%!]|[\w.*]+\?+$", line) else line for line in lines]
            yield f"{path}:cell {number}", "\n".join(lines)


def sources(script):
    """The texts of a script by the file name in a traceback."""
    if script.is_dir():
        return {str(path): path.read_text(encoding="utf-8") for path in sorted(script.rglob("*.py"))}
    if script.suffix == ".ipynb":
        return dict(cells(script))
    return {str(script): script.read_text(encoding="utf-8")}


def expectations(texts):
    found = []
    for name, text in texts.items():
        for number, line in enumerate(text.split("\n"), 1):
            for severity, codes in EXPECTED.findall(line):
                for code in re.split(r"\s*,\s*", codes):
                    found.append((name, number, severity, code))
    return found


def needs(texts):
    return {word.strip() for text in texts.values() for line in NEEDS.findall(text) for word in line.split(",")}


# --- one script, in a process of its own -------------------------------------------------


def execute(script):
    """Runs the script as a user would; returns its exception as plain data, or None."""
    import runpy
    import tempfile
    import traceback
    import types

    script = pathlib.Path(script)
    entry = next(script / name for name in ENTRY if (script / name).exists()) if script.is_dir() else script
    sys.argv = [str(entry)]
    sys.path.insert(0, str(entry.parent))
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            if script.suffix == ".ipynb":
                module = types.ModuleType("__main__")
                for name, source in cells(script):
                    exec(compile(source, name, "exec"), module.__dict__)
            else:
                runpy.run_path(str(entry), run_name="__main__")
        except SystemExit as stop:
            if stop.code not in (None, 0):
                return {"type": "SystemExit", "message": str(stop.code), "frames": []}
        except BaseException as error:  # any exception is the result
            frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
            return {"type": type(error).__name__, "message": str(error), "frames": frames}
        finally:
            os.chdir("/")
    return None


def serve(timeout):
    """Imports torch once, then runs each script named on stdin in a fork."""
    import signal

    import torch

    forks.import_once(*forks.SLOW_IMPORTS)
    print(json.dumps({"cuda": torch.cuda.is_available(), "torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            signal.alarm(timeout)
            os.write(write, json.dumps({"raised": execute(line.strip())}).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            answer = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        if not answer:
            answer = json.dumps({"raised": {"type": "killed", "message": f"status {status} (limit {timeout} s)", "frames": []}})
        print(answer, flush=True)


# --- the judge ---------------------------------------------------------------------------


def judge(kind, script, texts, raised):
    """None if the run agrees with the marks of the script, otherwise the difference as text."""
    expected = expectations(texts)
    if kind == "clean":
        if expected:
            return "a clean script has expectations"
        return raised and f"raised {raised['type']}: {raised['message']} at {place(script, texts, raised)}"
    if not expected:
        return "a buggy script has no expectation"
    loud = {(name, line) for name, line, severity, code in expected if severity == "error" and code not in SILENT}
    anywhere = {(name, line) for name, line, _, _ in expected}
    if raised is None:
        return f"nothing was raised at {sorted(line for _, line in loud)}" if loud else None
    inside = last_inside(texts, raised)
    # A mix of devices is marked at the call of the module, and raised in its `forward`.
    through = {tuple(frame) for frame in raised["frames"]} if "TV301" in {code for *_, code in expected} else set()
    if inside in (loud or anywhere) or through & anywhere or at_use({code for *_, code in expected}, raised):
        return None
    return f"raised {raised['type']}: {raised['message']} at {place(script, texts, raised)}"


def at_use(codes, raised):
    """Whether the exception is that of a loader, which raises where it is used, but is marked where
    it is created."""
    return "TV307" in codes and "device type for generator" in raised["message"]


def last_inside(texts, raised):
    # The main process raises the exception of a DataLoader worker again; its text contains the
    # original place.
    worker = [(name, int(line)) for name, line in re.findall(r'File "(.+)", line (\d+)', raised["message"])]
    frames = [tuple(frame) for frame in worker or raised["frames"] if frame[0] in texts]
    return frames[-1] if frames else None


def place(script, texts, raised):
    inside = last_inside(texts, raised)
    return f"{os.path.relpath(inside[0], script.parent)}:{inside[1]}" if inside else "an unknown place"


def main():
    parser = argparse.ArgumentParser(description="Checks the expectations of the corpus with PyTorch.")
    parser.add_argument("names", nargs="*", help="only scripts whose path contains one of these")
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one script")
    parser.add_argument("--verbose", action="store_true", help="also show what each buggy script raised")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.timeout)

    scripts = []
    for folder in ("buggy", "clean"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in (".py", ".ipynb") or path.is_dir() and path.name != "__pycache__":
                if not options.names or any(name in str(path.relative_to(ROOT)) for name in options.names):
                    scripts.append((folder, path))

    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    # Otherwise the test for a GPU initialises CUDA, and no fork could use it.
    environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    # On a GPU, a device-side assert is raised by the call that triggers it.
    environment["CUDA_LAUNCH_BLOCKING"] = "1"
    local = threading.local()
    servers = []

    def server():
        if not hasattr(local, "process"):
            command = [options.python, __file__, "--serve", "--timeout", str(options.timeout)]
            local.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            local.hello = json.loads(local.process.stdout.readline())
            servers.append(local.process)
        return local.process

    def run(item):
        kind, script = item
        texts = sources(script)
        wants = needs(texts)
        if "data" in wants:
            return item, "left out", "needs " + ", ".join(sorted(wants)), None
        process = server()
        if "cuda" in wants and not local.hello["cuda"]:
            return item, "left out", "needs cuda", None
        process.stdin.write(f"{script}\n")
        process.stdin.flush()
        raised = json.loads(process.stdout.readline())["raised"]
        if raised and raised["type"] == "ModuleNotFoundError":
            lacking = sorted(word for word in wants if f"'{word}'" in raised["message"])
            if lacking:
                return item, "left out", "needs " + ", ".join(lacking), None
        wrong = judge(kind, script, texts, raised)
        return item, "failed" if wrong else "passed", wrong, raised

    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(run, scripts):
            results.append(result)
            (kind, script), verdict, why, raised = result
            name = script.relative_to(ROOT)
            if verdict != "passed":
                print(f"{verdict:8}  {name}: {why}", flush=True)
            elif options.verbose:
                shown = f"{raised['type']}: {raised['message'].splitlines()[0] if raised['message'] else ''}" if raised else "ran to its end"
                print(f"{verdict:8}  {name}: {shown}", flush=True)
    for process in servers:
        process.stdin.close()
        process.wait()

    codes = collections.Counter()
    for kind, script in scripts:
        if kind == "buggy":
            codes.update(f"{code} {severity}" for _, _, severity, code in expectations(sources(script)))
    count = collections.Counter((kind, verdict) for (kind, _), verdict, _, _ in results)
    print()
    print("expectations:", ", ".join(f"{code} x{number}" for code, number in sorted(codes.items())))
    print("silent, judged by reading:", " ".join(sorted(code for code in SILENT if any(key.startswith(code) for key in codes))))
    for kind in ("buggy", "clean"):
        print(f"{kind}: " + ", ".join(f"{count[kind, verdict]} {verdict}" for verdict in ("passed", "failed", "left out")))
    total = collections.Counter(verdict for _, verdict, _, _ in results)
    print(f"{total['passed']} passed, {total['failed']} failed")
    return 1 if any(verdict == "failed" for _, verdict, _, _ in results) or not results else 0


if __name__ == "__main__":
    sys.exit(main())
