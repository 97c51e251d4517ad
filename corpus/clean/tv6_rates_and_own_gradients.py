import torch
import torch.nn as nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, *grads):
        (x,) = ctx.saved_tensors
        return 2 * x * grads[0]


class Stop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return None


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=1)
        one = torch.softmax(x[:, :1] @ x[:, :1].transpose(1, 2), dim=-1)
        return (weights * x).sum(1) + one.sum()


lr = 0.1
layer = nn.Linear(3, 3)
optimizer = SGD(layer.parameters(), lr=lr)
warmup = LambdaLR(optimizer, lambda epoch: 0.1 * epoch if epoch < 10 else 1.0)
other = SGD(layer.parameters(), lr=1.0)
rates = LambdaLR(other, lambda epoch: lr * 0.9**epoch)
Square.apply(Attention(3)(torch.rand(2, 4, 3))).sum().backward()
values = torch.tensor(list({1, 2})), torch.LongTensor(range(3)), torch.tensor(list(map(float, "12")))
