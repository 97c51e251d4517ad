"""A private name of an older PyTorch, used only if it exists."""
import torch
import torch.distributed as dist

if not hasattr(dist, "_backend"):
    slow = True
else:
    slow = dist._backend == dist.dist_backend.GLOO
print(slow, torch.zeros(2))
