"""Measures the slowdown of the probe, with training steps of a small CNN on the CPU.

    python tests/slowdown.py --torchvet target/debug/torchvet [--limit 1.5] [--profile]

Rounds with the contracts and without them alternate, so that other load on the machine affects both.
The rounds on the virtual device follow. The fastest round of each kind is used.
"""

import argparse
import contextlib
import cProfile
import json
import pstats
import subprocess
import sys
import time

import probe_corpus
import torch
from torch import nn


def made(device):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
    ).to(device)  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters())
    images, labels = torch.randn(32, 1, 28, 28, device=device), torch.randint(0, 10, (32,), device=device)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    parser = argparse.ArgumentParser(description="Measures the slowdown of the probe.")
    parser.add_argument("--torchvet", default=str(probe_corpus.ROOT / "target" / "debug" / "torchvet"))
    parser.add_argument("--limit", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    probe_corpus.load_runtime()
    listed = subprocess.run(
        [options.torchvet, "rule", "--all", "--output-format", "json"], stdout=subprocess.PIPE, check=True
    )
    contracts = probe_corpus.contracts_of(json.loads(listed.stdout))
    torch.set_num_threads(1)
    from torchvet_probe import virtual, watch

    watching = watch.Watch(contracts, lambda *_, **__: None)
    plain = made("cpu")
    best = dict.fromkeys(("without", "with the contracts", "on the virtual device"), float("inf"))

    def measure(name, step, *modes):
        with contextlib.ExitStack() as stack:
            for mode in modes:
                stack.enter_context(mode)
            step()
            start = time.perf_counter()
            for _ in range(5):
                step()
            best[name] = min(best[name], (time.perf_counter() - start) / 5)

    for _ in range(options.rounds):
        measure("without", plain)
        measure("with the contracts", plain, watching)
    if options.profile:
        profile = cProfile.Profile()
        with watching, profile:
            for _ in range(20):
                plain()
        pstats.Stats(profile).sort_stats("tottime").print_stats(20)
    # The virtual device comes last because its changes to PyTorch are permanent.
    device = virtual.install(1, lambda *_, **__: None)
    with device:
        on_gpu = made("cuda")
    for _ in range(options.rounds):
        measure("on the virtual device", on_gpu, device, watching)
    for name, seconds in best.items():
        print(f"{name:22} {seconds * 1000:7.2f} ms a step, {seconds / best['without']:.2f} times")
    return 1 if best["with the contracts"] > options.limit * best["without"] else 0


if __name__ == "__main__":
    sys.exit(main())
