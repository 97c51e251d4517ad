import torch
import torch.nn as nn

torch.manual_seed(0)
encode = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.1, inplace=True))
decode = nn.Linear(8, 6)
x = torch.randn(4, 6)
code = encode(x)
code += 0.1 * torch.randn(4, 8)
(decode(code) - x).pow(2).mean().backward()  # error: TV608
