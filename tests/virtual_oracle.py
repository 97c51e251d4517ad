"""Compares the mixes of devices that the virtual device and `FakeTensorMode`, or a GPU, reject.

    python tests/virtual_oracle.py [--with cuda] [--list] [part of an operator's name …]

The operators and their arguments come from PyTorch's own database for tests. For each of the first
tensors of a sample, there is one call with all other tensors on `cuda`, and one with only this tensor
on `cuda`.
Both modes run the call, and show whether it is rejected because of the devices. FakeTensorMode is
only a model, too: for example, it accepts scalars on the CPU everywhere. DIFFERENCES lists the
cases in which the virtual device is right, with the reasons.

With `--with cuda`, the calls run on the GPU of this machine instead of in FakeTensorMode, and ON_CUDA
lists the cases in which the virtual device is wrong.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import warnings

import torch

RUNTIME = pathlib.Path(__file__).resolve().parent.parent / "src" / "probe" / "runtime"
REFUSED = re.compile(
    r"same device|device type|indices should be either on|should be the same|too many CPU scalars|"
    r"is on cpu, different|1D CPU int64|to have cuda:0 Device"
)
BROKEN = re.compile(r"CUDA error|device-side assert|illegal memory access")
SAMPLES, ARGUMENTS = 4, 4
AT_ONCE = 8  # processes on the GPU
SEEN = "seen on a GPU (`--with cuda`)"
# Cases in which PyTorch's list of operations, or its source, contradicts FakeTensorMode.
GENERATED = "CUDA's generated check (native_functions.yaml has no `device_check: NoCheck`) accepts no scalars on the CPU"
DIFFERENCES = {
    "addr|bucketize|clamp_max|clamp_min|gcd|igammac?|index_reduce.*|index_select|lcm|logaddexp|native_dropout_backward"
    r"|nn\.functional\.(prelu|embedding)|normal|take|torch\._scaled_mm": GENERATED,
    "masked_fill": "masked_fill__cuda: expected self and mask to be on the same device",
    "masked_scatter": "the mask of masked_scatter_ is expanded on its own device: the kernel reads both",
    "index_put": "indices should be either on cpu or on the same device as the indexed tensor",
    "index_fill": "index_fill_.int_Tensor takes its value with item()",
    "(as_strided|select)_scatter": "it copies into a slice, and a copy may cross devices (as in slice_scatter)",
    "_unsafe_masked_index_put_accumulate": "only compiled code calls it",
    r"nn\.functional\.(mse_loss|binary_cross_entropy.*|soft_margin_loss)|logical_(and|or|xor)|complex|polar|linalg\.pinv": SEEN,
}
# Cases in which the virtual device differs from a GPU.
ON_CUDA = {
    "_unsafe_masked_index.*": "only compiled code calls it",
    r"nn\.functional\.bilinear": "a GPU accepts every mix if the batch is empty",
    r"nn\.functional\.cosine_similarity": "only vectors have a similarity; this sample is a scalar",
    "masked_scatter": "the mask of this sample is a scalar",
}


def samples():
    """(name, number, operator, arguments) of each sample, the same in every process."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if not op.dtypes:
            continue
        dtype = torch.float32 if torch.float32 in op.dtypes else min(op.dtypes, key=str)
        try:
            torch.manual_seed(0)
            found = []
            for sample in op.sample_inputs("cpu", dtype):
                found.append(sample)
                if len(found) == SAMPLES:
                    break
        except Exception:  # noqa: BLE001, S112 - this machine cannot create the samples
            continue
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        for number, sample in enumerate(found):
            yield name, number, op, sample


def tensors_of(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_of(value)


def with_tensors(value, replace):
    if isinstance(value, torch.Tensor):
        return replace(value)
    if type(value) in (list, tuple):
        return type(value)(with_tensors(item, replace) for item in value)
    return value


def ask(move, names):
    """The result of each case in a mode: "refused …" (because of the devices), "made" (accepted) or
    "failed …" (for another reason)."""
    verdicts = {}
    warnings.simplefilter("ignore")
    for name, number, op, sample in samples():
        if names and not any(part in name for part in names):
            continue
        values = (sample.input, *sample.args, *sample.kwargs.values())
        tensors = list(tensors_of(values))
        if not 2 <= len(tensors) or any(one.layout != torch.strided for one in tensors):
            continue
        for alone in range(min(len(tensors), ARGUMENTS)):
            for rest in ("cuda", "cpu"):
                other = "cpu" if rest == "cuda" else "cuda"
                count = iter(range(len(tensors)))
                # The tensors are visited in the order of `tensors_of`.
                place = lambda one: move(one, other if next(count) == alone else rest)  # noqa: B023
                case = f"{name} #{number} {rest} but {alone}"
                try:
                    given = with_tensors(sample.input, place)
                    args = tuple(with_tensors(item, place) for item in sample.args)
                    kwargs = {key: with_tensors(item, place) for key, item in sample.kwargs.items()}
                    op.op(given, *args, **kwargs)
                    verdicts[case] = "made"
                except Exception as error:  # noqa: BLE001
                    text = f"{type(error).__name__}: {error}"
                    if BROKEN.search(text):
                        # Every further call in this process would fail.
                        return verdicts | {case: "broken " + text.splitlines()[0][:200]}
                    refused = REFUSED.search(text) or "DeviceMismatch" in text
                    verdicts[case] = f"refused {text[:200]}" if refused else f"failed {text[:200]}"
    return verdicts


def fake(names):
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()

    def move(tensor, device):
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)

    # The samples are created outside the mode: their generators read values.
    made = list(samples())
    globals()["samples"] = lambda: made
    with mode:
        return ask(move, names)


@contextlib.contextmanager
def on_virtual_device():
    """Runs a block on a machine with a virtual GPU; gives the module with the state of this machine."""
    spec = importlib.util.spec_from_file_location(
        "torchvet_probe", RUNTIME / "__init__.py", submodule_search_locations=[str(RUNTIME)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["torchvet_probe"] = module
    spec.loader.exec_module(module)
    from torchvet_probe import virtual
    from torchvet_probe.virtual import world

    with virtual.install(1, lambda *_, **__: None):
        yield world


def virtual(names):
    made = list(samples())
    globals()["samples"] = lambda: made
    with on_virtual_device() as world:

        def move(tensor, device):
            world.current.broken = None
            return tensor.detach().clone().to(device)

        return ask(move, names)


def real(names):
    """Runs the calls on the GPU, in several processes. After a call that breaks its process (the GPU
    did not reject it, but read memory of the CPU), another process runs the other operators."""
    everything = sorted({sample[0] for sample in samples()})
    chosen = [name for name in everything if not names or any(part in name for part in names)]
    shares = [chosen[start::AT_ONCE] for start in range(min(AT_ONCE, len(chosen)))]
    verdicts = {}

    def work(left):
        while left:
            command = [sys.executable, __file__, "--ask", "one-by-one", *left]
            out = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
            done = [json.loads(line) for line in out.splitlines() if line.startswith(b"[")]
            for _, found in done:
                verdicts.update(found)
            if not any(found and "broken" in list(found.values())[-1][:6] for _, found in done[-1:]):
                # The process died in the operator after the last one that it has reported.
                for name in left[len(done) : len(done) + 1]:
                    verdicts[f"{name} #"] = "broken the process died"
                    done.append([name, {}])
            left = left[len(done) :]

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(work, shares))
    return verdicts


def one_by_one(names):
    """Prints the verdicts of each of these operators on the GPU, up to the first broken call."""
    made = collections.defaultdict(list)
    for sample in samples():
        made[sample[0]].append(sample)
    for name in names:
        globals()["samples"] = lambda: made[name]  # noqa: B023
        found = ask(lambda tensor, device: tensor.detach().clone().to(device), [])
        print(json.dumps([name, found]), flush=True)
        if any(verdict.startswith("broken") for verdict in found.values()):
            os._exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true", help="list every difference, including the explained ones")
    parser.add_argument("--with", dest="oracle", choices=("fake", "cuda"), default="fake")
    parser.add_argument("--ask", choices=("fake", "virtual", "cuda", "one-by-one"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.ask == "one-by-one":
        return one_by_one(options.names)
    if options.ask:
        answer = {"fake": fake, "virtual": virtual, "cuda": real}[options.ask](options.names)
        print(json.dumps(answer))
        return 0
    answers = {}
    for who in (options.oracle, "virtual"):
        command = [sys.executable, __file__, "--ask", who, *options.names]
        answers[who] = json.loads(
            subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1]
        )
    count = collections.Counter()
    operators = set()
    unexplained = 0
    for case, theirs in answers[options.oracle].items():
        ours = answers["virtual"].get(case, "failed")
        if theirs.startswith("broken"):
            # The GPU read memory of the CPU, or failed for another reason that only a GPU has.
            count["broken on the GPU"] += 1
            print(f"{case}: {theirs}  (virtual device: {ours})")
            continue
        if theirs.startswith("failed") or ours.startswith("failed"):
            count["not comparable"] += 1
            continue
        verdict, other = ours.split()[0], theirs.split()[0]
        operators.add(case.partition(" #")[0])
        if verdict == other:
            count[f"calls {'accepted' if verdict == 'made' else 'rejected'} by both"] += 1
            continue
        name = case.partition(" #")[0]
        reasons = DIFFERENCES if options.oracle == "fake" else ON_CUDA
        reason = next((why for pattern, why in reasons.items() if re.fullmatch(pattern, name)), None)
        count["differ (explained)" if reason else "differ"] += 1
        unexplained += reason is None
        if reason is None or options.list:
            print(f"{case}: {ours}  ({options.oracle}: {theirs}) {reason or ''}")
    print(
        f"{len(operators)} operators:",
        ", ".join(f"{number} {what}" for what, number in sorted(count.items())),
    )
    return 1 if unexplained or not count else 0


if __name__ == "__main__":
    sys.exit(main())
