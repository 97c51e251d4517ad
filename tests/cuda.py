"""Triggers the device-side asserts of PyTorch, each in a new process.

    python tests/cuda.py               on the GPU of this machine, if it has one
    python tests/cuda.py --device cpu  on the CPU: compares messages with docs/device-asserts.toml

On a GPU, each program runs with CUDA_LAUNCH_BLOCKING=1. The output of the driver is compared with
the condition in docs/device-asserts.toml, and the results are written to docs/verified-on-cuda.md,
with the GPU, the driver, PyTorch's version and the date.
"""

import argparse
import concurrent.futures
import datetime
import os
import pathlib
import re
import subprocess
import sys

import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs" / "verified-on-cuda.md"
SECONDS = 120
AT_ONCE = 4  # processes on the GPU

# The programs for the rows of the table; `d` is the device. For each row without a program, NONE gives
# the reason.
PROGRAMS = {
    "nll-1d-2d": "F.cross_entropy(torch.randn(4, 3, device=d), torch.tensor([0, 1, 3, 2], device=d))",
    "nll-no-reduction": "F.cross_entropy(torch.randn(4, 3, device=d), torch.tensor([0, 1, 3, 2], device=d), reduction='none')",
    "nll-bytes": "F.cross_entropy(torch.randn(4, 3, device=d), torch.tensor([0, 1, 3, 2], dtype=torch.uint8, device=d))",
    "nll-spatial": "F.cross_entropy(torch.randn(2, 3, 4, 4, device=d), torch.full((2, 4, 4), 3, device=d))",
    "nll-spatial-no-reduction": "F.cross_entropy(torch.randn(2, 3, 4, 4, device=d), torch.full((2, 4, 4), 3, device=d), reduction='none')",
    "bce-input": "F.binary_cross_entropy(torch.tensor([1.5], device=d), torch.tensor([1.0], device=d))",
    "bce-target": "F.binary_cross_entropy(torch.tensor([0.5], device=d), torch.tensor([2.0], device=d))",
    "index-select-small": "F.embedding(torch.tensor([5], device=d), torch.randn(5, 4, device=d))",
    "vectorized-gather": "F.embedding(torch.full((4096,), 5000, device=d), torch.randn(5000, 64, device=d))",
    "index-select": "torch.randn(5, 3, device=d).t().index_select(1, torch.full((64,), 5, device=d))",
    "embedding-renorm": "F.embedding(torch.tensor([5], device=d), torch.randn(5, 4, device=d), max_norm=1.0)",
    "embedding-bag-index": "F.embedding_bag(torch.tensor([1, 5], device=d), torch.randn(5, 4, device=d), torch.tensor([0], device=d))",
    "embedding-bag-offsets": "F.embedding_bag(torch.tensor([1, 2], device=d), torch.randn(5, 4, device=d), torch.tensor([0, 5], device=d))",
    "advanced-index": "torch.randn(4, device=d)[torch.tensor([4], device=d)]",
    "advanced-index-fill": "torch.zeros(4, device=d)[torch.tensor([4], device=d)] = 1.0",
    "index-fill": "torch.zeros(3, device=d).index_fill(0, torch.tensor([3], device=d), 1.0)",
    "index-put-accumulate": "torch.zeros(4, device=d).index_put((torch.tensor([4], device=d),), torch.ones(1, device=d), accumulate=True)",
    "index-copy": "torch.zeros(4, device=d).index_copy(0, torch.tensor([4], device=d), torch.ones(1, device=d))",
    "index-add": "torch.zeros(4, 3, device=d).index_add(0, torch.tensor([4], device=d), torch.ones(1, 3, device=d))",
    "index-add-vectorized": "torch.zeros(4, 64, device=d).index_add(0, torch.tensor([4], device=d), torch.ones(1, 64, device=d))",
    "scatter-gather": "torch.randn(2, 3, device=d).gather(1, torch.tensor([[3], [0]], device=d))",
    "one-hot": "F.one_hot(torch.tensor([3], device=d), 3)",
    "take-put": "torch.arange(12.0, device=d).take(torch.tensor([12], device=d))",
    "masked-scatter": "torch.zeros(3, device=d).masked_scatter(torch.tensor([True] * 3, device=d), torch.ones(2, device=d))",
    "multinomial-probabilities": "torch.multinomial(torch.tensor([float('nan'), 1.0], device=d), 1)",
    "multinomial-sum": "torch.multinomial(torch.zeros(3, device=d), 1)",
    "multinomial-negative": "torch.multinomial(torch.tensor([-1.0, 2.0], device=d), 4, replacement=True)",
    "multinomial-infinite": "torch.multinomial(torch.tensor([float('inf'), 2.0], device=d), 4, replacement=True)",
    "multinomial-nan": "torch.multinomial(torch.tensor([float('nan'), 2.0], device=d), 4, replacement=True)",
    "multinomial-zero": "torch.multinomial(torch.zeros(2, device=d), 4, replacement=True)",
    "bernoulli": "torch.bernoulli(torch.tensor([1.5], device=d))",
    "poisson": "torch.poisson(torch.tensor([-1.0], device=d))",
    "normal": "torch.normal(torch.zeros(1, device=d), torch.tensor([-1.0], device=d))",
    "multi-margin": "F.multi_margin_loss(torch.randn(2, 3, device=d), torch.tensor([0, 3], device=d))",
    "max-unpool": "F.max_unpool2d(torch.ones(1, 1, 2, 2, device=d), torch.full((1, 1, 2, 2), 100, device=d), 2)",
    "max-unpool-3d": "F.max_unpool3d(torch.ones(1, 1, 2, 2, 2, device=d), torch.full((1, 1, 2, 2, 2), 100, device=d), 2)",
    "repeat-interleave-size": "torch.repeat_interleave(torch.tensor([1, 2], device=d), output_size=5)",
    "repeat-interleave-negative": "torch.repeat_interleave(torch.tensor([2, -1], device=d), output_size=1)",
    "sparse-indices": "torch.sparse_csr_tensor(torch.tensor([0, 1], device=d), torch.tensor([5], device=d), torch.ones(1, device=d), size=(1, 3), check_invariants=True)",
    "assert-async": "torch._assert_async(torch.tensor(0, device=d))",
}
NONE = {
    "nll-spatial-overflow": "needs more memory than a test may use",
    "embedding-bag-index-older": "only in PyTorch before 2.10",
    "index-add-tma": "the tried calls of index_add use other kernels",
    "scatter-gather-older": "only in an older PyTorch",
    "multinomial-cumulative": "the programs of other rows trigger it",
    "fractional-max-pool": "no call of the public functions triggers it",
    "grouped-mm": "not tried",
    "segment-reduce": "an H100 with PyTorch 2.11 reads invalid memory before it reaches the assert",
    "nan-check": "not tried",
    "triton-indices": "needs a compiler at run time",
    "internal": "no Python program can trigger these asserts",
}


def trip(program):
    """The standard error of the program on the GPU, with the output of the driver, and the exception."""
    text = f"import torch\nimport torch.nn.functional as F\nd = 'cuda'\n{program}\ntorch.cuda.synchronize()\n"
    command, environment = [sys.executable, "-c", text], {**os.environ, "CUDA_LAUNCH_BLOCKING": "1"}
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=environment, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "", f"did not end within {SECONDS} s"
    raised = [line for line in done.stderr.splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    return done.stderr, raised[-1] if raised else f"exit {done.returncode}"


def on_cpu(rows):
    import torch
    import torch.nn.functional as F

    failed = 0
    for name, program in PROGRAMS.items():
        said = "nothing"
        try:
            exec(program, {"torch": torch, "F": F, "d": "cpu"})  # noqa: S102
        except Exception as error:  # noqa: BLE001
            said = f"{type(error).__name__}: {error}"
        if not said.startswith(rows[name]["cpu"].rstrip(".")):
            failed += 1
            print(f"failed  {name}: {said!r}, not {rows[name]['cpu']!r}")
    print(f"{len(PROGRAMS) - failed} programs raise the documented message of the CPU, {failed} do not")
    return failed


def on_cuda(rows):
    import torch

    gpu = torch.cuda.get_device_name(0)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, check=False, capture_output=True, text=True).stdout.strip() or "unknown"
    lines = [
        "# Verified on CUDA",
        "",
        f"{gpu}, driver {driver}, PyTorch {torch.__version__}, {datetime.date.today()}: `python tests/cuda.py`.",
        "",
        "| assert | condition | as in DEVICE-ASSERTS.md | exception |",
        "| --- | --- | --- | --- |",
    ]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = dict(zip(PROGRAMS, pool.map(trip, PROGRAMS.values())))
    for name, (errors, raised) in outcomes.items():
        found = re.search(r".*Assertion `(.*)` failed", errors)
        # `_assert_async` prints its message, which may be empty, instead of a condition. A check on
        # the host has no assertion, but the same text.
        seen = found[1] or "_assert_async" * ("_assert_async" in found[0]) if found else raised
        conditions = [rows[name]["condition"], *rows[name].get("also", [])]
        good = any(one.replace("...", "") in seen or found and seen in one for one in conditions)
        failed += not good
        row = (seen.replace("|", "\\|"), "yes" if good else "no", raised.replace("|", "\\|"))
        lines.append(f"| {name} | `{row[0]}` | {row[1]} | {row[2]} |")
        print(f"{'ok    ' if good else 'failed'}  {name}: {seen}")
    lines += ["", "Rows without a program: " + "; ".join(f"{name} ({why})" for name, why in NONE.items()) + "."]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(PROGRAMS) - failed} asserts as documented, {failed} different: {RECORD.relative_to(ROOT)}")
    return failed


def main():
    parser = argparse.ArgumentParser(description="Triggers the device-side asserts of PyTorch, each in a new process.")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    options = parser.parse_args()
    rows = tomllib.loads((ROOT / "docs" / "device-asserts.toml").read_text(encoding="utf-8"))
    assert set(rows) == set(PROGRAMS) | set(NONE), set(rows) ^ (set(PROGRAMS) | set(NONE))
    if options.device == "cpu":
        return bool(on_cpu(rows))
    import torch

    if not torch.cuda.is_available():
        print("there is no GPU: no assert was triggered")
        return 0
    return bool(on_cuda(rows))


if __name__ == "__main__":
    sys.exit(main())
