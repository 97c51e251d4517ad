import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

# hyperparameters
timesteps = 100
beta1 = 1e-4
beta2 = 0.02
n_feat = 16
n_cfeat = 5
height = 16
batch_size = 16
n_epoch = 2
lrate = 1e-3
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

# construct DDPM noise schedule
b_t = (beta2 - beta1) * torch.linspace(0, 1, timesteps + 1, device=device) + beta1
a_t = 1 - b_t
ab_t = torch.cumsum(a_t.log(), dim=0).exp()
ab_t[0] = 1


class ContextUnet(nn.Module):
    def __init__(self, in_channels=3, n_feat=16, n_cfeat=5):
        super().__init__()
        self.inc = nn.Conv2d(in_channels, n_feat, 3, padding=1)
        self.down = nn.Sequential(nn.Conv2d(n_feat, 2 * n_feat, 3, stride=2, padding=1), nn.GELU())
        self.t_emb = nn.Sequential(nn.Linear(1, 2 * n_feat), nn.GELU(), nn.Linear(2 * n_feat, 2 * n_feat))
        self.c_emb = nn.Linear(n_cfeat, 2 * n_feat)
        self.up = nn.ConvTranspose2d(2 * n_feat, n_feat, 2, stride=2)
        self.out = nn.Conv2d(2 * n_feat, in_channels, 3, padding=1)

    def forward(self, x, t, c=None):
        x1 = F.gelu(self.inc(x))
        h = self.down(x1)
        if c is None:
            c = torch.zeros(x.size(0), self.c_emb.in_features, device=x.device)
        h = h * self.c_emb(c)[:, :, None, None] + self.t_emb(t.view(-1, 1))[:, :, None, None]
        return self.out(torch.cat([self.up(h), x1], dim=1))


def perturb_input(x, t, noise):
    """perturbs an image to a specified noise level"""
    return ab_t.sqrt()[t, None, None, None] * x + (1 - ab_t[t, None, None, None]).sqrt() * noise


@torch.no_grad()
def sample_ddpm(model, n_sample):
    samples = torch.randn(n_sample, 3, height, height, device=device)
    for i in range(timesteps, 0, -1):
        t = torch.full((n_sample,), i / timesteps, device=device)
        z = torch.randn_like(samples) if i > 1 else 0
        eps = model(samples, t)
        mean = (samples - eps * ((1 - a_t[i]) / (1 - ab_t[i]).sqrt())) / a_t[i].sqrt()
        samples = mean + b_t.sqrt()[i] * z
    return samples


sprites = torch.rand(128, 3, height, height) * 2 - 1
labels = torch.eye(n_cfeat)[torch.randint(0, n_cfeat, (128,))]
dataloader = DataLoader(TensorDataset(sprites, labels), batch_size=batch_size, shuffle=True)

nn_model = ContextUnet(3, n_feat, n_cfeat).to(device)
optim = torch.optim.Adam(nn_model.parameters(), lr=lrate)

for ep in range(n_epoch):
    nn_model.train()
    # linearly decay learning rate
    optim.param_groups[0]['lr'] = lrate * (1 - ep / n_epoch)
    for x, _ in dataloader:
        optim.zero_grad()
        x = x.to(device)
        noise = torch.randn_like(x)
        t = torch.randint(1, timesteps + 1, (x.shape[0],), device=device)
        x_pert = perturb_input(x, t, noise)
        pred_noise = nn_model(x_pert, t / timesteps)
        loss = F.mse_loss(pred_noise, noise)
        loss.backward()
        optim.step()
    print(f'epoch {ep}: {loss.item():.4f}')

nn_model.eval()
print(sample_ddpm(nn_model, 2).std().item())
