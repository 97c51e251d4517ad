"""Runs the rule pages on the virtual device, or on a GPU.

    python tests/virtual_pages.py --torchvet target/debug/torchvet [--device cuda] [part of a name …]

If a page quotes a message of CUDA (`cuda`), its Example must raise this message on the device; an
Example that names no device creates its tensors there. Every Use instead must run to its end there.
With `--device cuda`, the blocks run on the GPU of this machine. A device-side assert stops the
process, and the driver prints its condition: then the message is the output of the process.
"""

import argparse
import collections
import contextlib
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
# What a machine may lack: a package, or the network.
LACKING = re.compile(r"ModuleNotFoundError|URLError|couldn't connect to")
ASSERTION = re.compile(r"Assertion `.*` failed")
PRELUDE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"


def block_of(page, title):
    found = re.search(
        rf"^## {title}\n(?:(?!^## ).)*?^```python\n(.*?)^```$", page["text"], re.MULTILINE | re.DOTALL
    )
    if found is None:
        return None
    block = found[1]
    return block if re.search(r"^\s*(import|from) ", block, re.MULTILINE) else PRELUDE + block


def run(block, device):
    """The exception of a block on the device, with what the driver printed; None if the block runs to
    its end."""
    folder = tempfile.mkdtemp()
    answer, printed = pathlib.Path(folder, "answer"), pathlib.Path(folder, "stderr")
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_RDWR)
        errors = os.open(printed, os.O_WRONLY | os.O_CREAT)
        for number, stream in ((0, quiet), (1, quiet), (2, errors)):
            os.dup2(stream, number)
        os.chdir(folder)
        from torchvet_probe import virtual

        raised = None
        is_virtual = device == "virtual"
        with virtual.install(1, lambda *_, **__: None) if is_virtual else contextlib.nullcontext():
            try:
                exec(compile(block, "<block>", "exec"), {"__name__": "__main__"})  # noqa: S102
                if not is_virtual:
                    import torch

                    torch.cuda.synchronize()
            except BaseException as error:  # noqa: BLE001
                raised = f"{type(error).__name__}: {error}"
        answer.write_text(json.dumps(raised))
        os._exit(0)
    os.waitpid(child, 0)
    raised = json.loads(answer.read_text()) if answer.exists() else "killed"
    return raised and "\n".join([raised, *ASSERTION.findall(printed.read_text(errors="replace"))[:1]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torchvet", default=str(probe_corpus.ROOT / "target" / "debug" / "torchvet"))
    parser.add_argument("--device", choices=("virtual", "cuda"), default="virtual")
    options = parser.parse_args()
    # Asserts are raised by the call that triggers them.
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
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
            on_device = example if on_gpu else PRELUDE + "torch.set_default_device('cuda')\n" + example
            raised = run(on_device, options.device)
            good = re.search(page["cuda"], raised or "") is not None
            good = good or page["name"] in OF_OTHERS and re.search(page["cpu"], raised or "") is not None
            left_out = LACKING.search(raised or "") or "# error" not in example
            count["left out" if left_out else "raised" if good else "failed"] += 1
            if not good and not left_out:
                print(f"failed  {page['name']}: Example raises {raised!r} instead of {page['cuda']!r}")
        if instead is not None:
            raised = run(instead, options.device)
            good = raised is None or LACKING.search(raised)
            count["ran" if good else "failed"] += 1
            if not good:
                print(f"failed  {page['name']}: Use instead raises {raised!r}")
    print(
        f"Examples: {count['raised']} raised the expected message, {count['left out']} left out;",
        f"Use instead: {count['ran']} ran; {count['failed']} failed",
    )
    return 1 if count["failed"] or not count else 0


if __name__ == "__main__":
    sys.exit(main())
