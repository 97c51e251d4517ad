"""Runs public training examples under the probe, with generated data.

    python tests/examples.py --from DIR --torchvet target/debug/torchvet [part of a name …]

DIR contains checkouts of public repositories, each in a folder `owner+name`; missing repositories
are skipped. The programs of tests/programs use libraries that pip can install (accelerate,
transformers, pytorch_lightning, timm); they run if these are installed. Each example runs without
the probe, under the probe, and under the probe on the virtual device, with the same seed; it must
exit without an error and print the same text, except times, process ids and names of devices. On
the virtual device, examples that shuffle their data only on a GPU (SHUFFLED_ON_GPU) may print other
numbers. Examples that fail without the probe are skipped.
"""

import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = "pytorch+examples"
TUTORIAL = "yunjey+pytorch-tutorial/tutorials"
# Name: (script, its arguments, additional arguments on a machine with a GPU).
SCRIPTS = {
    "mnist": (f"{EXAMPLES}/mnist/main.py", "--epochs 1 --batch-size 32", ""),
    "mnist_rnn": (f"{EXAMPLES}/mnist_rnn/main.py", "--epochs 1 --batch-size 32", "--accel"),
    "mnist_hogwild": (f"{EXAMPLES}/mnist_hogwild/main.py", "--epochs 1 --num-processes 1", "--cuda"),
    "mnist_forward_forward": (
        f"{EXAMPLES}/mnist_forward_forward/main.py",
        "--epochs 2 --train_size 200 --test_size 60",
        "",
    ),
    "vae": (f"{EXAMPLES}/vae/main.py", "--epochs 1", ""),
    "siamese_network": (f"{EXAMPLES}/siamese_network/main.py", "--epochs 1 --dry-run", ""),
    "dcgan": (
        f"{EXAMPLES}/dcgan/main.py",
        "--dataset fake --dry-run --niter 1 --batchSize 4 --ngf 8 --ndf 8 --workers 1 --manualSeed 1",
        "--accel",
    ),
    "regression": (f"{EXAMPLES}/regression/main.py", "", ""),
    "linear_regression": (f"{TUTORIAL}/01-basics/linear_regression/main.py", "", ""),
    "logistic_regression": (f"{TUTORIAL}/01-basics/logistic_regression/main.py", "", ""),
    "feedforward": (f"{TUTORIAL}/01-basics/feedforward_neural_network/main.py", "", ""),
    "convolutional": (f"{TUTORIAL}/02-intermediate/convolutional_neural_network/main.py", "", ""),
    "bidirectional_rnn": (
        f"{TUTORIAL}/02-intermediate/bidirectional_recurrent_neural_network/main.py",
        "",
        "",
    ),
    "minGPT adder": (
        "karpathy+minGPT/projects/adder/adder.py",
        "--trainer.max_iters=12 --model.model_type=gpt-nano",
        "",
    ),
    "nanoGPT": (
        "karpathy+nanoGPT/train.py",
        (
            "--dataset=made_up --compile=False --max_iters=6 --eval_interval=3 --eval_iters=2 --log_interval=1 "
            "--batch_size=2 --block_size=32 --n_layer=2 --n_head=2 --n_embd=32 --gradient_accumulation_steps=2 "
            "--dtype=float32 --device={device}"
        ),
        "",
    ),
}
PROGRAMS = ("accelerate_loop", "transformers_trainer", "lightning_fit", "timm_models")
SCRIPTS.update({name: (str(ROOT / "tests" / "programs" / f"{name}.py"), "", "") for name in PROGRAMS})
SEEDED = """
import os, random, runpy, sys
import torch
random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)
try:
    import numpy
    numpy.random.seed(0)
except ImportError:
    pass
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TIMES = re.compile(
    r"'\w+_(?:runtime|per_second)': '[^']*'|\d+(\.\d+)?(e-?\d+)? ?(s|ms|us|sec|seconds|it/s)\b|\d\d:\d\d:\d\d|\d{4}[-_ ]?\d\d[-_ ]?\d\d[-_ ]?\d*|mfu \S+"
)
DEVICES = re.compile(r"\b(cuda(:0)?|cpu|CUDA|GPU|CPU)\b")
# Parts of the output that may differ: process ids, and names that depend on the device.
CHOICES = re.compile(r"^\d+(?=\tTrain)|accel=\w+|using fused AdamW: \w+", re.MULTILINE)
# These examples shuffle their data only on a GPU, so they print other numbers there.
SHUFFLED_ON_GPU = {"mnist", "siamese_network", "mnist_forward_forward"}
NUMBERS = re.compile(r"\d+(\.\d+)?")


def fake_mnist(folder):
    """Writes the files of MNIST, with noise as images."""
    import random

    random.seed(0)
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part, count in (("train", 384), ("t10k", 128)):
        images = struct.pack(">IIII", 0x803, count, 28, 28) + random.randbytes(count * 784)
        labels = struct.pack(">II", 0x801, count) + bytes(index % 10 for index in range(count))
        (raw / f"{part}-images-idx3-ubyte").write_bytes(images)
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(labels)


def made_up(name, folder, source):
    """A folder for a run. This folder and the two above it contain the data that examples expect."""
    import shutil

    work = folder / "around" / "it"
    work.mkdir(parents=True)
    for place in (folder, folder / "around", work):
        fake_mnist(place / "data")
    (work / "results").mkdir()
    if name == "nanoGPT":
        import random

        (work / "data" / "made_up").mkdir(parents=True)
        shutil.copy(source.parent / "configurator.py", work)
        for part in ("train", "val"):
            random.seed(part)
            tokens = struct.pack("<2000H", *(random.randrange(60) for _ in range(2000)))
            (work / "data" / "made_up" / f"{part}.bin").write_bytes(tokens)
    return work


def run(name, source, arguments, prefix, python):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        work = made_up(name, folder, source)
        (folder / "seeded.py").write_text(SEEDED)
        packages = os.pathsep.join(map(str, (source.parent, source.parent.parent.parent)))
        environment = dict(os.environ, PYTHONPATH=packages, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        environment.update(MPLBACKEND="agg")
        command = [*prefix, str(folder / "seeded.py"), str(source), *arguments.split()]
        start = time.monotonic()
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
        printed = CHOICES.sub("", DEVICES.sub("D", TIMES.sub("T", done.stdout))).replace(str(folder), "")
        return done.returncode, printed, done.stderr, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description="Runs public training examples under the probe.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--from", dest="folder", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--torchvet", default=str(ROOT / "target" / "debug" / "torchvet"))
    options = parser.parse_args()
    probe = [str(pathlib.Path(options.torchvet).resolve()), "probe", "run", "--python", sys.executable]
    failed = done = 0
    for name, (script, arguments, on_gpu) in SCRIPTS.items():
        source = (options.folder / script).resolve()
        if options.names and not any(part in name for part in options.names):
            continue
        if not source.exists():
            print(f"left out     {name}: {script} is not there")
            continue
        cpu, gpu = arguments.format(device="cpu"), f"{arguments.format(device='cuda')} {on_gpu}"
        plain = run(name, source, cpu, [sys.executable], sys.executable)
        if plain[0] != 0:
            print(
                f"left out     {name}: {plain[2].strip().splitlines()[-1] if plain[2].strip() else plain[0]}"
            )
            continue
        done += 1
        wrong = []
        seconds = [plain[3]]
        for how, prefix, given in (("probe", [], cpu), ("virtual", ["--device", "virtual"], gpu)):
            exit_code, printed, report, took = run(name, source, given, probe + prefix, sys.executable)
            seconds.append(took)
            if exit_code != 0:
                wrong.append(f"{how}: ended with {exit_code}: {report[-1500:]}")
            elif how == "virtual" and name in SHUFFLED_ON_GPU:
                if NUMBERS.sub("N", printed) != NUMBERS.sub("N", plain[1]):
                    wrong.append(f"{how}: printed something else than numbers")
            elif printed != plain[1]:
                pairs = zip(plain[1].splitlines(), printed.splitlines())
                first = next((f"{b!r}, not {a!r}" for a, b in pairs if a != b), "more or fewer lines")
                wrong.append(f"{how}: printed {first}")
        failed += bool(wrong)
        times = " / ".join(f"{one:.1f}" for one in seconds)
        lines = len(plain[1].splitlines())
        print(
            f"{'failed' if wrong else 'same':12} {name} ({script}): {lines} lines printed, {times} s",
            flush=True,
        )
        for line in wrong:
            print(f"    {line}")
    print(f"{done} examples ran alone, under the probe and on the virtual device; {failed} of them differ")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
