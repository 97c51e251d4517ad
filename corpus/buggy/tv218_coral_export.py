"""Loads a coral classifier and exports its predictions."""
import json
import os

import numpy as np
import torch
import torch.nn as nn

CLASSES = ["acropora", "porites", "pocillopora"]


def weights(path):
    ext = os.path.splitext(path)[1]
    if ext == ".pt" or ".pth":  # warning: TV218
        return torch.load(path, map_location="cpu")
    return {key: torch.from_numpy(value) for key, value in np.load(path).items()}


class Coral(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        assert (x.dim() == 4, "a batch of pictures")  # warning: TV218
        return self.head(self.body(x).flatten(1))


def fold(model):
    for layer in model.modules():
        if type(layer) is nn.Conv2d and type(layer) is nn.BatchNorm2d:  # warning: TV218
            layer.requires_grad_(False)


def report(model, pictures):
    with torch.no_grad():
        scores = model(pictures).softmax(1)
    best = scores.argmax(1)
    names = zip(CLASSES, range(len(CLASSES)))
    print("classes:", len(list(names)))
    return {"scores": scores.tolist(), "best": best}


if __name__ == "__main__":
    model = Coral(len(CLASSES)).eval()
    found = report(model, torch.rand(4, 3, 32, 32))
    with open(os.devnull, "w") as file:
        json.dump(found, file)  # error: TV405
