"""`torch.nn.modules` contains modules, unlike `torch.nn`."""

from torch.nn.modules import transformer

print(transformer.Transformer)
