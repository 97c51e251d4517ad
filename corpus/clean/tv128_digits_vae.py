import torch
import torch.nn.functional as F
from torch import nn


class Vae(nn.Module):
    def __init__(self, width=64, latent=4):
        super().__init__()
        self.encode = nn.Linear(width, 2 * latent)
        self.decode = nn.Linear(latent, width)

    def sample(self, mean, log_var):
        spread = (0.5 * log_var).exp()
        noise = torch.randn_like(spread)
        return mean + spread * noise

    def forward(self, x):
        mean, log_var = self.encode(x).chunk(2, dim=1)
        return self.decode(self.sample(mean, log_var)), mean, log_var


class Speech(nn.Module):
    """Its `log_variances` are logarithms of deviations, as in VITS."""

    def forward(self, means, log_variances, noise_scale):
        return means + torch.randn_like(means) * torch.exp(log_variances) * noise_scale


def loss_of(out, x, mean, log_var):
    divergence = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum(1).mean()
    return F.mse_loss(out, x) + divergence


vae = Vae()
images = torch.rand(8, 64)
print(loss_of(*vae(images)[:1], images, *vae(images)[1:]).item())
print(Speech()(torch.zeros(2, 3), torch.zeros(2, 3), 0.667).shape)
