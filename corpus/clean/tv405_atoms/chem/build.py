import torch
from chem.constants import NUMBERS


def hydrogen():
    return torch.tensor([NUMBERS.get("H")])


def gas():
    return hydrogen()
