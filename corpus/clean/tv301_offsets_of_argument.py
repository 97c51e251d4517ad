"""Corners of voxels, computed for points that may be on a GPU."""
import torch


def weights(points: torch.Tensor, sigma):
    scale = torch.tensor([sigma, sigma, 2 * sigma]).to(points.device)
    return torch.exp(-(points / scale) ** 2)


def corners(points, size):
    points = torch.clamp(points, min=0.0)
    index = torch.floor(points / size)
    lowest = index * size
    highest = lowest + torch.tensor([1.0, 1.0, 1.0], device=points.device) * size
    return lowest, highest


def penalty(real: torch.Tensor, fake: torch.Tensor):
    if len(real) != len(fake):
        raise ValueError("the batches have different sizes")
    share = torch.rand(real.size(0), 1).type_as(real)
    mixed = share * real + (1 - share) * fake
    norm = mixed.flatten(1).norm(2, dim=1)
    # A number may be on the CPU.
    return torch.clamp(norm - torch.tensor(1.0), min=0).mean()


# `torch.Tensor(x)` keeps the device of a tensor.
def copied(points: torch.Tensor):
    return torch.Tensor(points[..., :3]) - points.mean(0)


if __name__ == "__main__":
    print(weights(torch.zeros(2, 3), 1.0), corners(torch.ones(2, 3), 0.5))
    print(penalty(torch.ones(2, 3), torch.zeros(2, 3)), copied(torch.ones(2, 3)))
