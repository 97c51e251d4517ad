"""Runs the rule pages on the virtual device.

    python tests/virtual_pages.py --torchvet target/debug/torchvet [part of a name …]

If a page quotes a message of CUDA (`cuda`), its Example must raise this message on the virtual
device; an Example that names no device creates its tensors there. Every Use instead must run to its
end on the virtual device.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import forks
import probe_corpus

# These pages quote asserts of other functions than the one in the Example.
OF_OTHERS = {"shape-mismatch", "invalid-argument"}
PRELUDE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"


def block_of(page, title):
    found = re.search(
        rf"^## {title}\n(?:(?!^## ).)*?^```python\n(.*?)^```$", page["text"], re.MULTILINE | re.DOTALL
    )
    if found is None:
        return None
    block = found[1]
    return block if re.search(r"^\s*(import|from) ", block, re.MULTILINE) else PRELUDE + block


def run(block):
    """The exception of a block on the virtual device; None if it runs to its end."""
    folder = tempfile.mkdtemp()
    answer = pathlib.Path(folder) / "answer"
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        os.chdir(folder)
        from torchvet_probe import virtual

        raised = None
        with virtual.install(1, lambda *_, **__: None):
            try:
                exec(compile(block, "<block>", "exec"), {"__name__": "__main__"})  # noqa: S102
            except BaseException as error:  # noqa: BLE001
                raised = f"{type(error).__name__}: {error}"
        answer.write_text(json.dumps(raised))
        os._exit(0)
    os.waitpid(child, 0)
    return json.loads(answer.read_text()) if answer.exists() else "killed"


def main():
    parser = argparse.ArgumentParser(description="Runs the rule pages on the virtual device.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torchvet", default=str(probe_corpus.ROOT / "target" / "debug" / "torchvet"))
    options = parser.parse_args()
    probe_corpus.load_runtime()
    listed = subprocess.run(
        [options.torchvet, "rule", "--all", "--output-format", "json"], stdout=subprocess.PIPE, check=True
    )
    forks.import_once()
    count = collections.Counter()
    for page in json.loads(listed.stdout):
        if options.names and not any(name in page["name"] for name in options.names):
            continue
        example, instead = block_of(page, "Example"), block_of(page, "Use instead")
        if page.get("cuda") and example is not None:
            # An Example without a device is about values: its tensors are created on the GPU.
            on_gpu = "cuda" in example or "import" in block_of(page, "Example").removeprefix(PRELUDE)
            raised = run(example if on_gpu else PRELUDE + "torch.set_default_device('cuda')\n" + example)
            good = re.search(page["cuda"], raised or "") is not None
            good = good or page["name"] in OF_OTHERS and re.search(page["cpu"], raised or "") is not None
            left_out = "ModuleNotFoundError" in (raised or "") or "# error" not in example
            count[
                "Examples left out" if left_out else "Examples that say what CUDA says" if good else "failed"
            ] += 1
            if not good and not left_out:
                print(f"failed  {page['name']}: Example raises {raised!r} instead of {page['cuda']!r}")
        if instead is not None:
            raised = run(instead)
            good = raised is None or "ModuleNotFoundError" in raised or "URLError" in raised
            count["Use instead that run" if good else "failed"] += 1
            if not good:
                print(f"failed  {page['name']}: Use instead raises {raised!r}")
    print(", ".join(f"{number} {what}" for what, number in sorted(count.items())))
    return 1 if count["failed"] or not count else 0


if __name__ == "__main__":
    sys.exit(main())
