import argparse

import torch
import torch.nn as nn
import torchvision.models as models

parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="resnet18", choices=sorted(n for n in models.__dict__ if n.islower()))
args = parser.parse_args()

body = models.__dict__[args.arch](weights=None)
body.fc = nn.Identity()
head = nn.Linear(1024, 4)
head(body(torch.randn(2, 3, 64, 64)))  # warning: TV401
