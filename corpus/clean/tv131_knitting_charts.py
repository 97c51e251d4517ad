# A VAE that draws new charts for knitted hats: 12 x 16 stitches, each of the main or the second colour.
# Several losses, each with both terms on one scale, or with a weight that was chosen.
import argparse

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

ROWS, STITCHES = 12, 16


def knit_charts(count):
    """Charts of repeated diamonds and stripes."""
    row = torch.arange(ROWS).view(1, ROWS, 1)
    stitch = torch.arange(STITCHES).view(1, 1, STITCHES)
    width = torch.randint(3, 7, (count, 1, 1))
    slope = torch.randint(-1, 2, (count, 1, 1))
    return ((stitch + slope * row) % width < width // 2).float().unsqueeze(1)


class ChartVAE(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 8, 64), nn.ReLU()
        )
        self.mu = nn.Linear(64, latent)
        self.logvar = nn.Linear(64, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, ROWS * STITCHES))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decoder(z).view(-1, 1, ROWS, STITCHES), mu, logvar


def both_summed(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(recon_x, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


def summed_for_each_chart(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(recon_x, x, reduction="none").sum(dim=(1, 2, 3))
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
    return (bce + kld).mean()


def mean_multiplied_by_stitches(recon_x, x, mu, logvar):
    """The mean over the batch of two sums."""
    bce = F.binary_cross_entropy_with_logits(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce * ROWS * STITCHES + kld / len(x)


def sum_divided_later(recon_x, x, mu, logvar):
    """Both terms for each stitch, as in PyTorch's first example of a VAE."""
    bce = F.binary_cross_entropy_with_logits(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    kld /= x.numel()
    return bce + kld


def with_beta(recon_x, x, mu, logvar, beta=2e-4):
    """The weight of the divergence is chosen for the mean."""
    bce = F.binary_cross_entropy_with_logits(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + beta * kld


def divided_if_wanted(recon_x, x, mu, logvar, per_stitch=True):
    """The sum is divided only under an option, so `kld` has two values."""
    bce = F.binary_cross_entropy_with_logits(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    if per_stitch:
        kld = kld / x.numel()
    return bce + kld


def one_divergence_for_each_chart(recon_x, x, mu, logvar):
    """The divergence is summed over the latent dimensions only."""
    bce = F.binary_cross_entropy_with_logits(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
    return (bce + kld).mean()


def both_means(recon_x, x, mu, logvar):
    mse = F.mse_loss(torch.sigmoid(recon_x), x)
    kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
    return mse + kld


def sharpness(recon_x, x, scale):
    """A mean and two sums, but no divergence."""
    return F.l1_loss(recon_x, x) + (2 * scale - scale.exp()).sum() - torch.sum((1 - scale) ** 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--latent", type=int, default=4)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(knit_charts(512)), batch_size=32, shuffle=True)
    losses = (
        both_summed, summed_for_each_chart, mean_multiplied_by_stitches, sum_divided_later,
        with_beta, divided_if_wanted, one_divergence_for_each_chart, both_means,
    )
    for loss_function in losses:
        model = ChartVAE(args.latent)
        optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        for epoch in range(args.epochs):
            model.train()
            for (charts,) in loader:
                recon, mu, logvar = model(charts)
                loss = loss_function(recon, charts, mu, logvar)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(loss_function.__name__, round(loss.item(), 3), sharpness(recon, charts, logvar[0]).item())


if __name__ == "__main__":
    main()
