# A VAE that draws new charts for knitted hats: 12 x 16 stitches, each of the main or the second colour.
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


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())  # warning: TV131
    return bce + kld


def test_loss(model, charts):
    model.eval()
    with torch.no_grad():
        recon, mu, logvar = model(charts)
        reconstruction = F.mse_loss(torch.sigmoid(recon), charts)
        divergence = (mu ** 2 + logvar.exp() - 1 - logvar).sum() * 0.5  # warning: TV131
        total = divergence + reconstruction
    return total.item(), recon.sigmoid().std(dim=0).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--latent", type=int, default=4)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(knit_charts(512)), batch_size=32, shuffle=True)
    held_out = knit_charts(64)
    model = ChartVAE(args.latent)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for (charts,) in loader:
            recon, mu, logvar = model(charts)
            loss = loss_function(recon, charts, mu, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        loss, spread = test_loss(model, held_out)
        print(f"epoch {epoch}: train {total / len(loader):.3f}, test {loss:.3f}, spread of the charts {spread:.3f}")
    with torch.no_grad():
        chart = model.decoder(torch.randn(1, args.latent)).view(ROWS, STITCHES) > 0
    for row in chart.tolist():
        print("".join("#" if stitch else "." for stitch in row))


if __name__ == "__main__":
    main()
