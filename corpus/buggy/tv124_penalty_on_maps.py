import torch
import torch.nn as nn

critic = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(4 * 7 * 7, 1))


def penalty(real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1)
    between = (alpha * real + (1 - alpha) * fake).requires_grad_()
    scores = critic(between)
    (gradients,) = torch.autograd.grad(scores, between, torch.ones_like(scores), create_graph=True)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()  # warning: TV124


print(penalty(torch.randn(6, 1, 16, 16), torch.randn(6, 1, 16, 16)).item())
