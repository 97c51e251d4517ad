"""Masks in grey, palette and colour, each read in the way that suits it."""
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

COLOURS = {(0, 0, 0): 0, (255, 0, 0): 1, (0, 255, 0): 2}


def palette_mask():
    mask = Image.fromarray(np.random.default_rng(0).integers(0, 3, (24, 24), dtype=np.uint8), mode="P")
    mask.putpalette([channel for colour in COLOURS for channel in colour])
    return mask


class Masks(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        palette = palette_mask()
        # A grey mask of ids stays what it is.
        ids = np.array(Image.fromarray(np.array(palette)).convert("L"))
        # Anything that is not black is foreground.
        foreground = np.array(palette.convert("L")) > 0
        # Colours are looked up.
        colours = np.array(palette.convert("RGB"))
        looked_up = np.zeros(colours.shape[:2], dtype=np.int64)
        for colour, index in COLOURS.items():
            looked_up[(colours == np.array(colour)).all(axis=-1)] = index
        # One channel of a mask that was saved in colour.
        channel = np.stack([ids] * 3, axis=-1)[..., 0]
        # Resized as a palette image, which Pillow never interpolates.
        small = np.array(palette.resize((24, 24)))
        masks = [ids, foreground, looked_up, channel, small]
        return torch.rand(3, 24, 24), [torch.from_numpy(mask.astype(np.int64)) for mask in masks]


net = nn.Conv2d(3, 3, 1)
for image, masks in DataLoader(Masks(), batch_size=2):
    sum(nn.functional.cross_entropy(net(image), mask) for mask in masks).backward()
