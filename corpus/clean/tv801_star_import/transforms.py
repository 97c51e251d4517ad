"""Transforms of images."""
import torchvision.transforms.functional as F

__all__ = ["Flip"]


class Flip:
    def __call__(self, image):
        return F.hflip(image)
