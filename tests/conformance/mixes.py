"""Compares what torchvet says of calls that mix devices with the virtual device.

    python tests/conformance/mixes.py --torchvet target/debug/torchvet [--list] [part of an operator's name …]

The operators and modules and their arguments come from PyTorch's own databases for tests. For each of
the first tensors of a sample, and for a module itself, there is one call with all others on `cuda`, and
one with only this one on `cuda`. Each call is written as code, and the same code is run on the virtual device, which rejects
the same mixes as a GPU (virtual_oracle.py compares the two). torchvet must not report an error in a
call that runs. `--list` prints the rejected calls that it does not report.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import generate
import torch
import virtual_oracle
from torch.testing._internal.common_modules import module_db

HEADER = "import torch\nimport torch.nn.functional as F\n"


def written(op, sample, rest, alone):
    """The code of a call: all tensors on the device `rest`, except for one. The last line is the call."""
    writer = generate.Writer("", "rand")
    arguments = [writer.value(value) for value in (sample.input, *sample.args)]
    keywords = {name: writer.value(value) for name, value in sample.kwargs.items()}
    names = list(writer.names.values())
    lines = []
    for name, line in zip(names, writer.assignments, strict=True):
        on_cuda = (rest == "cuda") != (name == names[alone])
        lines.append(f"{line}.cuda()" if on_cuda else line)
    return [*lines, f"result = {generate.function_call(op)(arguments, keywords)}"]


def calls(parts):
    """(name, lines) of each call, with the samples of `virtual_oracle`."""
    for name, number, op, sample in virtual_oracle.samples():
        if parts and not any(part in name for part in parts) or name in generate.PROPERTIES:
            continue
        values = (sample.input, *sample.args, *sample.kwargs.values())
        tensors = list(virtual_oracle.tensors_of(values))
        if len({id(one) for one in tensors}) < max(2, len(tensors)) or name == "__getitem__":
            continue
        for alone in range(min(len(tensors), virtual_oracle.ARGUMENTS)):
            for rest in ("cuda", "cpu"):
                try:
                    yield f"{name} #{number} {rest} but {alone}", written(op, sample, rest, alone)
                except generate.CannotWrite:
                    continue


def module_calls(parts):
    """(name, lines) of calls of modules: the module, or one of its inputs, is on another device."""
    for info in module_db:
        if torch.float32 not in info.dtypes or not hasattr(torch.nn, info.module_cls.__name__):
            continue
        if parts and not any(part in info.name for part in parts):
            continue
        torch.manual_seed(0)
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True)
        for number, sample in enumerate(inputs):
            try:
                made, call, tensors = generate.module_lines(info, sample, "", "rand", True)
            except generate.CannotWrite:
                continue
            if call is None or number >= virtual_oracle.SAMPLES:
                continue
            for alone in range(-1, min(len(tensors), virtual_oracle.ARGUMENTS)):
                for rest in ("cuda", "cpu"):
                    on_cuda = [(rest == "cuda") != (place == alone) for place in range(-1, len(tensors))]
                    lines = [*made, f"m = m{'.cuda()' if on_cuda[0] else ''}"]
                    for line, moved in zip(tensors, on_cuda[1:], strict=True):
                        lines.append(f"{line}.cuda()" if moved else line)
                    yield f"{info.name} #{number} {rest} but {alone}", [*lines, f"result = {call}"]


def run(cases):
    """What the virtual device does with each call: "accepted", "rejected" or "failed" (for another
    reason than the devices)."""
    verdicts = {}
    with virtual_oracle.on_virtual_device() as world:
        for case, lines in cases.items():
            world.current.broken = None
            names = {}
            try:
                exec(HEADER + "\n".join(lines[:-1]), names)  # noqa: S102
                exec(lines[-1], names)  # noqa: S102
                verdicts[case] = "accepted"
            except Exception as error:  # noqa: BLE001
                refused = virtual_oracle.REFUSED.search(str(error)) or "DeviceMismatch" in type(error).__name__
                verdicts[case] = "rejected" if refused else "failed"
    return verdicts


def reported(torchvet, cases):
    """The errors in each call."""
    text, rows = HEADER, {}
    for number, (case, lines) in enumerate(cases.items()):
        text += f"def case_{number}():\n" + "".join(f"    {line}\n" for line in lines)
        rows[text.count("\n")] = case
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "mixes.py")
        file.write_text(text, encoding="utf-8")
        command = [torchvet, "check", "--isolated", "--output-format", "json", str(file)]
        found = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    errors = collections.defaultdict(list)
    for one in found:
        case = rows.get(one["location"]["row"])
        if case is not None and one["severity"] == "error":
            errors[case].append(f"{one['code']}: {one['message']}")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torchvet", required=True)
    parser.add_argument("--list", action="store_true", help="print the rejected calls that torchvet does not report")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    cases = dict(calls(options.names)) | dict(module_calls(options.names))
    verdicts = run(cases)
    errors = reported(options.torchvet, cases)
    count = collections.Counter()
    for case, verdict in verdicts.items():
        name = case.partition(" #")[0]
        if verdict == "accepted" and errors[case] and not unlike_a_gpu(name):
            count["failed"] += 1
            print(f"failed  {case}: {cases[case][-1]}  {errors[case][0]}")
        elif verdict == "rejected":
            count["found" if errors[case] else "missed"] += 1
            if options.list and not errors[case]:
                print(f"missed  {case}: {'; '.join(cases[case])}")
        else:
            count[verdict] += 1
    print(f"{count['accepted']} accepted calls without an error, {count['failed']} with an error, {count['failed']} failed")
    rejected = count["found"] + count["missed"]
    print(f"{count['found']} of {rejected} rejected calls found; {count['failed']} failed")
    return 1 if count["failed"] or not rejected else 0


def unlike_a_gpu(name):
    return any(re.fullmatch(pattern, name) for pattern in virtual_oracle.ON_CUDA)


if __name__ == "__main__":
    sys.exit(main())
