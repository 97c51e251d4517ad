"""Denoise sine waves; the loss is chosen by name."""
import torch
from torch import nn

LOSSES = {"mse": nn.MSELoss, "l1": nn.L1Loss, "huber": nn.SmoothL1Loss}


class Denoiser(nn.Module):
    def __init__(self, loss="mse"):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 64))
        self.loss_class = LOSSES[loss]

    def compute_loss(self, noisy, clean):
        return self.loss_class()(self.net(noisy), clean)


model = Denoiser(loss="l1")
optimizer = torch.optim.Adam(model.parameters())
time = torch.linspace(0, 6.28, 64)
for step in range(3):
    clean = torch.sin(time + torch.rand(8, 1))
    loss = model.compute_loss(clean + 0.1 * torch.randn_like(clean), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
