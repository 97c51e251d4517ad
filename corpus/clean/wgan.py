import torch
import torch.nn as nn

torch.manual_seed(0)
latent, clip, n_critic = 8, 0.01, 3
device = "cuda" if torch.cuda.is_available() else "cpu"

generator = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
opt_g = torch.optim.RMSprop(generator.parameters(), lr=5e-5)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-5)


def real_batch(n):
    angle = torch.rand(n, device=device) * 6.283
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def gradient_penalty(real, fake):
    eps = torch.rand(real.size(0), 1, device=device)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    grad = torch.autograd.grad(score, mix, torch.ones_like(score), create_graph=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for step in range(4):
    for _ in range(n_critic):
        real = real_batch(16)
        fake = generator(torch.randn(16, latent, device=device)).detach()
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    fake = generator(torch.randn(16, latent, device=device))
    loss_g = -critic(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    print(step, loss_c.item(), loss_g.item())
