"""Fine-tunes a head; `--debug` runs kernels in step."""
import argparse
import os

os.environ["OMP_NUM_THREADS"] = "2"
parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
args = parser.parse_args([])
if args.debug:
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

import torch
import torch.nn as nn

os.environ["NCCL_DEBUG"] = "WARN"
os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"

model = nn.Linear(6, 3)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(5, 6)), torch.randint(3, (5,)))
    loss.backward()
    optimizer.step()
    print(step, loss.item())
