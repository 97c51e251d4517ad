"""Corners of voxels, computed for points that may be on a GPU."""
import torch


# The weights are moved to the device of the points, so the points may be on a GPU.
def weights(points: torch.Tensor, sigma):
    scale = torch.tensor([sigma, sigma, 2 * sigma]).to(points.device)
    return torch.exp(-(points / scale) ** 2)


def corners(points, size):
    points = torch.clamp(points, min=0.0)
    index = torch.floor(points / size)
    lowest = index * size
    highest = lowest + torch.tensor([1.0, 1.0, 1.0]) * size  # warning: TV301
    return lowest, highest


# The type shows that `real` is a tensor, and `type_as` that its device matters.
def penalty(real: torch.Tensor, fake: torch.Tensor):
    if len(real) != len(fake):
        raise ValueError("the batches have different sizes")
    share = torch.rand(real.size(0), 1).type_as(real)
    mixed = share * real + (1 - share) * fake
    norm = mixed.flatten(1).norm(2, dim=1)
    zero = torch.zeros(norm.size(0))
    return torch.max(zero, norm - 1).mean()  # warning: TV301
