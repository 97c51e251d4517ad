"""A function in a class, called through the class: its first parameter is no receiver."""

import torch
import torch.nn as nn


class Att(nn.Module):
    def attention(query, key, value):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / d_k
        return torch.matmul(scores, value)

    attend = staticmethod(attention)


t = torch.rand(2, 3, 4)
print(Att.attend(t, t, t).shape)
