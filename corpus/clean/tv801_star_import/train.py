"""`import *` imports only the names in `__all__`: `F` stays `torch.nn.functional`."""
import torch
import torch.nn.functional as F
from transforms import *

images = torch.rand(4, 3, 8, 8)
pooled = F.max_pool2d(Flip()(images), kernel_size=2)
torch.nn.modules.utils.consume_prefix_in_state_dict_if_present({"module.weight": pooled}, "module.")
print(pooled.shape)
