"""Checks the claims of the rule pages with the installed PyTorch.

    python tests/pages_run.py rules/*.md      prints one line per fault, then a summary
    python tests/pages_run.py                 reads {"page": path} lines, answers each with a line

For every page, the Example must raise the exception of `cpu` on its last marked line, or run to its
end if the page has no `cpu`. Evidence and Use instead must run. The contracts of all pages check the
calls: if the page has a contract, they must find the marked findings in the Example, and otherwise
nothing; they must find nothing in Use instead. If a contract needs facts that only the checker has
(CHECKER_ONLY), it may find nothing. The Example and Use instead run on the CPU, even if they name a
GPU. An Example with `needs = "cuda"` is not run.
"""

import contextlib
import functools
import importlib
import inspect
import io
import json
import os
import pathlib
import re
import sys
import tomllib
import traceback
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src" / "probe" / "runtime"))

import torch  # noqa: E402

import contracts  # noqa: E402
import rule_pages  # noqa: E402

PRELUDE = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"]
PRELUDE += ["import numpy as np"]
CHECKER_ONLY = ("interpolated", "scaled", "recoloured", "flipped", "vocabulary")
ASSERTS = tomllib.loads((ROOT / "docs" / "device-asserts.toml").read_text(encoding="utf-8"))
NEWER = re.compile(r"module '(torch[\w.]*)' has no attribute '(\w+)'")
MARK = re.compile(r"#\s*(error|warning|info)\s*$")


class Page:
    """The parts of a page that are needed to run it."""

    def __init__(self, path):
        page = rule_pages.read(path)
        self.path = str(path)
        self.code, self.metadata, self.blocks = page.code, page.metadata, page.blocks

    def contracts(self):
        if "Contract" not in self.blocks:
            return {}
        source, line = self.blocks["Contract"]
        return contracts.load(source, self.metadata["contract-of"], self.path, line)


# --- watching ------------------------------------------------------------------------------


class Watch:
    """Wraps functions so that the contracts of all pages check their calls."""

    def __init__(self, pages):
        self.findings = []
        self.judging = False
        for page in pages:
            for path, judges in page.contracts().items():
                for target in targets(path):
                    self.wrap(*target, page.code, judges)

    def wrap(self, owner, name, code, judges):
        function = inspect.getattr_static(owner, name)
        original = getattr(function, "__wrapped_by_watch__", function)
        try:
            signature = inspect.signature(original)
        except ValueError:
            signature = None
        skip = 1 if name == "__init__" else 0

        @functools.wraps(original)
        def watched(*args, **kwargs):
            for judge in judges if not self.judging else ():
                known = bind(signature, judge, args, kwargs, skip)
                # A contract calls wrapped functions itself.
                self.judging = True
                finding = judge.judge(known)
                self.judging = False
                if finding is not None:
                    self.findings.append((code, finding.severity, block_line()))
            return function(*args, **kwargs)

        watched.__wrapped_by_watch__ = original
        setattr(owner, name, watched)


def bind(signature, judge, args, kwargs, skip):
    """The arguments by name; for a builtin, the order of the contract's parameters determines the
    names."""
    if signature is None:
        return dict(zip(judge.parameters, args)) | kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return {}
    bound.apply_defaults()
    named = list(bound.arguments.items())[skip:]
    first = next(iter(judge.parameters))
    if named and named[0][0] == "self":
        named[0] = (first, named[0][1])
    return dict(named)


def targets(path):
    """The functions that a dotted path names, each as (owner, name): the function and, for
    `torch.*`, the tensor method of the same name; for a class, its `__init__`."""
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:-1]:
            owner = getattr(owner, part)
        name = parts[-1]
        if inspect.isclass(getattr(owner, name)):
            yield getattr(owner, name), "__init__"
            return
        yield owner, name
        if owner is torch and hasattr(torch.Tensor, name):
            yield torch.Tensor, name
        return


def block_line():
    """The current line in the block that runs, not counting the prelude."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename != "<block>":
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


# --- running -------------------------------------------------------------------------------


def on_cpu(source):
    return re.sub(r"\.cuda\(\)", "", source).replace('"cuda"', '"cpu"').replace("'cuda'", "'cpu'")


def execute(source):
    """Runs a block; returns (its exception or None, the line). The prelude runs first, unless the
    block has imports of its own."""
    has_imports = re.search(r"^(import|from) ", source, flags=re.MULTILINE)
    names = {"__name__": "__page__"}
    if not has_imports:
        exec("\n".join(PRELUDE), names)
    environment = dict(os.environ)
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            exec(compile(source, "<block>", "exec"), names)
        return None, 0
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return error, next((f.lineno for f in reversed(frames) if f.filename == "<block>"), 0)
    finally:
        os.environ.clear()
        os.environ.update(environment)


def lacks(error):
    """The thing that a block needs and this Python does not have. If PyTorch 2.7 or newer does not have
    it, the page is wrong."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed"
    if torch.__version__ >= (2, 7):
        return None
    if isinstance(error, AttributeError) and (found := NEWER.search(str(error))):
        return f"this PyTorch has no {found[1]}.{found[2]}"
    # In these versions, fake tensors on a GPU need a real GPU.
    return "needs CUDA" if isinstance(error, RuntimeError) and "no NVIDIA driver" in str(error) else None


def run_page(page, watch):
    """The faults of a page, and the parts of it that were not run."""
    faults, left_out = [], []
    metadata = page.metadata

    def block(title, source):
        watch.findings.clear()
        error, line = execute(source)
        if missing := lacks(error):
            left_out.append(f"{title} ({missing})")
            return None
        return error, line, sorted(set(watch.findings))

    if "cpu" in metadata:
        re.compile(metadata["cpu"])
    if "cuda" in metadata:
        re.compile(metadata["cuda"])
    for name in metadata.get("asserts", []):
        condition = ASSERTS[name]["condition"]
        if condition != "_assert_async" and not re.search(metadata.get("cuda", "(?!)"), condition):
            faults.append(f"`cuda` does not match {condition!r}, of the assert {name}")
    marked = []
    source, _ = page.blocks["Example"]
    for number, line in enumerate(source.splitlines(), 1):
        if found := MARK.search(line):
            marked.append((page.code, found[1], number))
    if not marked:
        faults.append("Example has no `# error`, `# warning` or `# info`")
    if metadata.get("needs") == "cuda":
        left_out.append("Example (needs CUDA)")
    elif ran := block("Example", on_cpu(source)):
        error, line, findings = ran
        text = f"{type(error).__name__}: {error}" if error else "nothing"
        if "cpu" in metadata or error:
            if error is None or "cpu" not in metadata or not re.search(metadata["cpu"], text):
                faults.append(f"Example raised {text!r}, not `cpu`")
            elif line != marked[-1][2]:
                faults.append(f"Example raised on its line {line}, not where it is marked")
        expected = marked if metadata["contract-of"] else []
        # On real tensors, a contract with one of these helpers cannot find the mistake: only the checker
        # knows how a tensor was made.
        static = any(f"{name}(" in page.blocks["Contract"][0] for name in CHECKER_ONLY if expected)
        if findings != expected and (findings or not static):
            faults.append(f"contracts found {findings} in Example, not {expected}")
    for title in ("Use instead", "Evidence"):
        if title not in page.blocks:
            continue
        source = page.blocks[title][0]
        ran = block(title, on_cpu(source) if title == "Use instead" else source)
        if ran is None:
            continue
        error, line, findings = ran
        if error is not None:
            faults.append(f"{title} raised {type(error).__name__}: {error} on its line {line}")
        if title == "Use instead" and findings:
            faults.append(f"contracts found {findings} in Use instead")
    return faults, left_out


def main():
    paths = sorted((ROOT / "rules").glob("*.md"))
    pages = {path.resolve(): Page(path) for path in paths}
    watch = Watch(pages.values())
    if len(sys.argv) > 1:
        bad, skipped, by_example, by_evidence = 0, [], set(), set()
        for path in sys.argv[1:]:
            page = pages[pathlib.Path(path).resolve()]
            faults, left_out = run_page(page, watch)
            bad += bool(faults)
            skipped += [f"{page.code} {what}" for what in left_out]
            ran = {"Example", "Evidence"} - {what.split()[0] for what in left_out}
            if not faults and "Example" in ran and "cpu" in page.metadata:
                by_example.add(path)
            if not faults and "Evidence" in ran and "Evidence" in page.blocks:
                by_evidence.add(path)
            for fault in faults:
                print(f"{path}: {fault}")
        print(f"PyTorch {torch.__version__}: {len(sys.argv) - 1} pages, {bad} with faults;", end=" ")
        print(f"left out {len(skipped)}: {', '.join(skipped) or 'nothing'}")
        print(f"verified {len(by_example | by_evidence)}: {len(by_example)} by the error of their Example,", end=" ")
        print(f"{len(by_evidence)} by their Evidence, {len(by_example & by_evidence)} of these by both")
        sys.exit(bad > 0)
    for line in sys.stdin:
        path = json.loads(line)["page"]
        faults, left_out = run_page(pages[pathlib.Path(path).resolve()], watch)
        print(json.dumps({"page": path, "faults": faults, "left_out": left_out}), flush=True)


if __name__ == "__main__":
    main()
