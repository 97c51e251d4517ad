"""Statistics of the groups of a feature map, and the same elements as another number of samples."""

import torch

features = torch.rand(4, 12, 8, 10)
weight = torch.ones(12)
n, c, h, w = features.shape
normed, mean, deviation = torch.native_group_norm(features, weight, None, n, c, h * w, 3, 1e-5)
assert mean.shape == (4, 3) and deviation.shape == (4, 3)
# Only the number of elements counts, not the shape.
flat, mean, deviation = torch.native_group_norm(features.flatten(), None, weight, n, c, h * w, 3, 1e-5)
assert flat.shape == (3840,) and mean.shape == (4, 3)
half, mean, deviation = torch.native_group_norm(features.half(), weight, weight, n, c, h * w, 4, 1e-5)
assert half.dtype == torch.float16 and mean.dtype == torch.float32
