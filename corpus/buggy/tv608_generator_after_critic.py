import torch
import torch.nn as nn

generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
generator_optimizer = torch.optim.Adam(generator.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())

for _ in range(100):
    fake = generator(torch.randn(16, 4))
    generator_loss = -critic(fake).mean()
    critic_loss = critic(fake.detach()).mean() - critic(torch.randn(16, 2)).mean()

    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    generator_optimizer.zero_grad()
    generator_loss.backward()  # error: TV608
    generator_optimizer.step()
