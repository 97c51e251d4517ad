import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(0, 1)

    @staticmethod
    def backward(ctx, grad_output):  # warning: TV637
        (x,) = ctx.saved_tensors
        return ((x > 0) & (x < 1)).float()


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        weights = F.softmax(self.score(x), dim=-1)  # warning: TV414
        return (weights * x).sum(1)


def train(args, model, loader):
    optimizer = SGD(model.parameters(), args.lr, momentum=0.9)
    scheduler = LambdaLR(optimizer, lambda step: args.lr * (1 + 0.001 * step) ** -0.75)  # warning: TV638
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(Clip.apply(model(x)), y, reduction="none")
        loss.mean()  # warning: TV210
        loss.backward()
        optimizer.step()
        scheduler.step()


words = {3, 4, 5}
net = nn.Sequential(nn.Linear(2, 1), nn.Softmax(dim=1))
out = net(torch.rand(3, 2))  # warning: TV414
ids = torch.LongTensor(words)  # error: TV405
