"""Classes whose instances have elements: through a base class, a decorator, or an assigned method."""

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image


class Config(dict):
    def __getattr__(self, name):
        return self[name]


def with_elements(cls):
    cls.__getitem__ = lambda self, name: getattr(self, name)
    return cls


@with_elements
class Options:
    def __init__(self):
        self.width = 4


class Pairs:
    def __init__(self):
        self.items = [(1, 2)]

    def __getitem__(self, index):
        return self.items[index]


class Version(argparse.Action):
    def __init__(self, option_strings, dest, text="", **kwargs):
        super().__init__(option_strings, dest, nargs=0, **kwargs)
        self.text = text

    def __call__(self, parser, namespace, values, option_string=None):
        print(self.text)


config, options = Config(width=3), Options()
print(torch.zeros(config["width"], options["width"]))
for first, second in Pairs():
    print(first + second)
parser = argparse.ArgumentParser()
parser.add_argument("--version", action=Version, text="1")
parser.add_argument("--plain-version", action="version", version="1")
parser.parse_args([])
image = np.array(Image.new("RGB", (4, 4)))[..., :1]
print(image.shape, str(Path("a")) + ".png", Path("a") / "b")
