import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, defualt=3)  # error: TV802
args = parser.parse_args()
print(torch.zeros(args.steps))
