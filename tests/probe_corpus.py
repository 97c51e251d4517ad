"""Runs the corpus under the probe.

    python tests/probe_corpus.py --torchvet target/debug/torchvet [--device virtual|cuda] [--every N [--first K]] [part of a name …]

A contract or PyTorch must stop a script of corpus/buggy at a marked line, unless all its errors are
silent harms (SILENT in corpus_run.py). A script of corpus/clean must end as it does without the probe,
and print the same lines, apart from times and names of devices. No contract may report an error there.

With `--device virtual`, the scripts behave as on a GPU. If the page of a marked line quotes a
message of CUDA (`cuda`), and the script stops there, PyTorch's own message on the virtual device
must match it. A clean script must print the same as on the CPU, apart from rounding, and may print more
because it finds a GPU. `--device cuda` is the same on a real GPU, except that scripts which need a GPU
are compared with themselves.
"""

import argparse
import collections
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import corpus_run
import forks

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "src" / "probe" / "runtime"
CONTRACT = re.compile(r"^## Contract\n(?:(?!^## ).)*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def contract_of(page):
    """A page's contract in the format of the probe; None if the page has no contract."""
    found = CONTRACT.search(page["text"])
    if found is None or not page["contract_of"]:
        return None
    return {
        "code": page["code"],
        "name": page["name"],
        "path": f"rules/{page['name']}.md",
        "line": page["text"].count("\n", 0, found.start(1)) + 1,
        "source": found[1],
        "contract_of": page["contract_of"],
    }


def contracts_of(pages):
    return [contract for contract in map(contract_of, pages) if contract is not None]


def load_runtime():
    """The Python code of the probe, loaded as the probe does."""
    spec = importlib.util.spec_from_file_location(
        "torchvet_probe", RUNTIME / "__init__.py", submodule_search_locations=[str(RUNTIME)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["torchvet_probe"] = module
    spec.loader.exec_module(module)


def run(script, task, timeout):
    """Runs a script in a fork; under the probe if there is a task. Returns its exception, its
    output, the reports of the probe, and the time."""
    import signal

    import torch

    # Not a TemporaryDirectory: the child would delete it when it exits.
    folder = tempfile.mkdtemp()
    try:
        answer = os.path.join(folder, "answer.json")
        events = os.path.join(folder, "events.jsonl")
        printed = os.path.join(folder, "stdout")
        pathlib.Path(events).touch()
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            quiet = os.open(os.devnull, os.O_RDWR)
            out = os.open(printed, os.O_WRONLY | os.O_CREAT)
            for number, stream in ((0, quiet), (1, out), (2, quiet)):
                os.dup2(stream, number)
            sys.stdout.reconfigure(line_buffering=True)
            signal.alarm(timeout)
            random.seed(0)  # Python seeds this generator anew after a fork, and PyTorch those of GPUs
            torch.manual_seed(0)
            if task is not None:
                import atexit

                from torchvet_probe import begin, session

                begin.begin(session.Session(folder, task))
            raised = corpus_run.execute(script)
            if task is not None:
                atexit._run_exitfuncs()
            sys.stdout.flush()
            pathlib.Path(answer).write_text(json.dumps(raised))
            os._exit(0)
        os.waitpid(child, 0)
        seconds = time.monotonic() - start
        text = pathlib.Path(printed).read_text(errors="replace") if os.path.exists(printed) else ""
        if os.path.exists(answer):
            raised = json.loads(pathlib.Path(answer).read_text())
        else:
            raised = {"type": "killed", "message": f"within {timeout} s", "frames": []}
        reported = [json.loads(line) for line in pathlib.Path(events).read_text().splitlines()]
        return raised, text, reported, seconds
    finally:
        shutil.rmtree(folder)


def wants_newer(raised):
    """Whether a script failed because it uses something that an older PyTorch does not have."""
    import torch

    is_old = torch.__version__ < (2, 7)
    return is_old and raised is not None and "module 'torch.amp' has no attribute" in raised["message"]


def judge_buggy(script, texts, raised, reported):
    """What stopped the script, and the fault, if any."""
    expected = corpus_run.expectations(texts)
    errors = {(name, line) for name, line, severity, _ in expected if severity == "error"}
    loud = {code for _, _, severity, code in expected if severity == "error"} - corpus_run.SILENT
    stops = [one for one in reported if one["event"] == "finding" and one["stopped"]]
    if stops:
        stop = stops[0]
        at = [(frame["filename"], frame["line"]) for frame in stop["stack"]]
        marked = {(name, line, code) for name, line, _, code in expected}
        said = f"{stop['code']} at line {stop['line']}: {stop['message']}"
        if any((name, line, stop["code"]) in marked for name, line in at):
            return "contract", None
        return "contract", f"stopped where it is not marked: {said}"
    if raised is not None:
        inside = corpus_run.last_inside(texts, raised)
        through = {tuple(frame) for frame in raised["frames"]}
        codes = {code for *_, code in expected}
        if inside in errors or not errors or through & errors or corpus_run.at_use(codes, raised):
            return "PyTorch", None
        return "PyTorch", f"raised {raised['type']}: {raised['message'][:200]} at {inside}"
    return "nothing", "ran to its end" if loud else None


def judge_on_gpu(texts, pages, raised, reported):
    """Like `judge_buggy`, for PyTorch's messages on the virtual device. None if no page of a marked
    line quotes CUDA, or the script did not stop at such a line."""
    expected = corpus_run.expectations(texts)
    said_by = {
        (name, line, code): pages[code]["cuda"]
        for name, line, severity, code in expected
        if severity == "error" and pages[code].get("cuda")
    }
    if not said_by:
        return None
    stops = [one for one in reported if one["event"] == "finding" and one["stopped"]]
    if stops:
        stop = stops[0]
        at = [(frame["filename"], frame["line"], stop["code"]) for frame in stop["stack"]]
        patterns = [said_by[place] for place in at if place in said_by]
        message = stop["raised"]
    elif raised is not None:
        inside = corpus_run.last_inside(texts, raised)
        patterns = [pattern for (name, line, _), pattern in said_by.items() if (name, line) == inside]
        message = f"{raised['type']}: {raised['message']}"
    else:
        return None
    if not patterns:
        return None
    if any(re.search(pattern, message or "") for pattern in patterns):
        return "said by CUDA", None
    on_cpu = message is None or not stops or not any(" cuda:" in one["text"] for one in stops[0]["arguments"])
    if on_cpu or not re.match("IndexError|.*out of (range|bounds)", message):
        return None
    return "said by CUDA", f"PyTorch's message is {message!r} instead of {' or '.join(patterns)!r}"


def judge_clean(plain, probed, reported):
    raised, text, _, _ = plain
    wrong = [one for one in reported if one["event"] == "finding" and one["severity"] == "error"]
    if wrong:
        return f"{wrong[0]['code']} at line {wrong[0]['line']}: {wrong[0]['message']}"
    if (probed[0] is None) != (raised is None):
        return f"raised {probed[0] or raised}"
    return differs(lines_of(text), lines_of(probed[1]))


def lines_of(text):
    return without_times(without_devices(text)).splitlines()


NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def differs(plain, probed):
    """The first difference between the outputs without and with the probe. Under the probe, a
    script may print more, because it may test for a GPU."""
    rest = iter(probed)
    for line in plain:
        if not any(line == other or close(line, other) for other in rest):
            return f"did not print {line!r}"
    return None


ROUNDED = []


def close(line, other):
    """Whether two lines are equal except for the rounding of other kernels: half precision under
    autocast, or kernels that torchvision chooses by the device."""
    if NUMBER.sub("", line) != NUMBER.sub("", other):
        return False
    pairs = list(zip(map(float, NUMBER.findall(line)), map(float, NUMBER.findall(other))))
    near = bool(pairs) and all(abs(a - b) <= 0.01 * abs(a) + 1e-4 for a, b in pairs)
    ROUNDED.extend([line] * near)
    return near


def without_times(text):
    return re.sub(r"\d+(\.\d+)?(e-?\d+)? ?(s|ms|us|sec|seconds|it/s)\b", "T", text)


def without_devices(text):
    text = re.sub(r", device='cuda:0'", "", text)
    return re.sub(r"\b(cuda(:0)?|cpu|CUDA|GPU|CPU)\b", "D", text)


def main():
    parser = argparse.ArgumentParser(description="Runs the corpus under the probe.")
    parser.add_argument("names", nargs="*", help="only scripts whose path contains one of these")
    parser.add_argument("--torchvet", default=str(ROOT / "target" / "debug" / "torchvet"))
    parser.add_argument("--device", choices=("any", "virtual", "cuda"), default="any")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run only every Nth script")
    parser.add_argument("--first", type=int, default=0, metavar="K", help="with --every, start with the script of this number")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one script")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()

    load_runtime()
    listed = subprocess.run(
        [options.torchvet, "rule", "--all", "--output-format", "json"], stdout=subprocess.PIPE, check=True
    )
    pages = {page["code"]: page for page in json.loads(listed.stdout)}
    contracts = contracts_of(pages.values())
    task = {
        "version": 1,
        "contracts": contracts,
        "findings": [],
        "keep_going": False,
        "dump": None,
        "max_steps": None,
        "device": "any" if options.device == "cuda" else options.device,
        "gpus": 1,
    }
    # Otherwise the first test for a GPU initialises CUDA, and no fork could use it.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    forks.import_once(*forks.SLOW_IMPORTS)

    count = collections.Counter()
    failed = 0
    ratios = [0.0, 0.0]
    slowest = []
    for folder in ("buggy", "clean"):
        scripts = [
            script
            for script in sorted((corpus_run.ROOT / folder).iterdir())
            if script.suffix in (".py", ".ipynb") or script.is_dir() and script.name != "__pycache__"
        ]
        for script in scripts[options.first :: options.every]:
            if options.names and not any(name in str(script) for name in options.names):
                continue
            texts = corpus_run.sources(script)
            wants = corpus_run.needs(texts)
            on_gpu = options.device == "cuda" or options.device == "virtual" and folder == "buggy"
            if wants - ({"cuda"} if on_gpu else set()):
                count[folder, "left out"] += 1
                continue
            probed = run(script, task, options.timeout)
            raised, _, reported, seconds = probed
            slowest = sorted([*slowest, (seconds, script.name)], reverse=True)[:8]
            if folder == "buggy" and wants_newer(raised):
                how, wrong = "left out", None
            elif folder == "buggy":
                how, wrong = judge_buggy(script, texts, raised, reported)
                if options.device != "any" and wrong is None:
                    how, wrong = judge_on_gpu(texts, pages, raised, reported) or (how, wrong)
            else:
                plain = run(script, None, options.timeout)
                ROUNDED.clear()
                wrong = judge_clean(plain, probed, reported)
                how = "rounded otherwise" if ROUNDED else "same"
                ratios[0] += seconds
                ratios[1] += plain[3]
            count[folder, how] += 1
            failed += wrong is not None
            if wrong or options.verbose or how == "rounded otherwise":
                print(f"{'failed' if wrong else how:8}  {script.relative_to(ROOT)}: {wrong or ''}", flush=True)
    for folder in ("buggy", "clean"):
        parts = [f"{number} {how}" for (kind, how), number in sorted(count.items()) if kind == folder]
        print(f"{folder}: {', '.join(parts)}")
    if ratios[1]:
        print(f"clean scripts took {ratios[0]:.1f} s under the probe, {ratios[1]:.1f} s without")
    print("the slowest:", ", ".join(f"{name} {seconds:.1f} s" for seconds, name in slowest))
    print(f"{failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
