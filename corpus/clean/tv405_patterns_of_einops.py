# needs: einops
"""Patterns that einops takes."""

import torch
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange, Reduce

x = torch.randn(2, 6, 4, 4)
print(rearrange(x, "b (g c) ... -> b g c ... 1", g=3).shape, rearrange(x, "b c h w -> b (h w) c").shape)
print(repeat(x, "b c h w -> b c (h s) (w t) 2", s=2, t=3).shape, reduce(x, "b c 4 w -> b w", "mean").shape)
print(reduce(x, "b c (h 2) (w 2) -> b c h w", "max").shape, reduce(x, "b ... -> b 1", "sum").shape)
lengths = {"g": 2}
print(rearrange(x, "b (g c) h w -> (b g) c h w", **lengths).shape, repeat(x[0], "c h w -> g c h w", **lengths).shape)
print(Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=2, q=2)(x).shape, Reduce("b c h w -> b c", "mean")(x).shape)
print(rearrange(x[0, 0, 0, :, None], "w 01 -> w").shape, rearrange(x[0, 0, 0], "w -> w 01").shape)
print(reduce(x, "b ... -> (b s) ...", "repeat", s=3).shape, Reduce("b ... -> (b s) ...", "repeat", s=3)(x).shape)
