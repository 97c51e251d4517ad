"""Views that the strides of results allow."""

import torch

scores = torch.randn(8, 10)
turned = scores.t()
print((torch.zeros(10, 8) + turned).view(-1).shape)
print((turned == turned).t().view(-1).shape, (turned + 1).t().reshape(80).shape)
print(turned[:1].view(-1).shape, (turned[:1] > 0).view(8).shape)
print(turned[2:4].contiguous().view(-1).shape, turned[:, :1].view(10).shape)
print(turned[:5].t()[0].view(5).shape, turned[:3].t().contiguous().view(24).shape)
print(scores[:3].view(-1).shape, scores.topk(3)[1].view(-1).shape, scores.t().topk(3, 0)[0].view(24).shape)
