import torch
import torch.nn as nn

generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
generator_optimizer = torch.optim.Adam(generator.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())

for _ in range(100):
    fake = generator(torch.randn(16, 4))
    critic_loss = critic(fake.detach()).mean() - critic(torch.randn(16, 2)).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    generator_loss = -critic(fake).mean()
    generator_optimizer.zero_grad()
    generator_loss.backward()
    generator_optimizer.step()

# The optimizer changes only parameters with gradients: `frozen` has none.
frozen, head = nn.Linear(3, 3), nn.Linear(3, 1)
both = torch.optim.SGD([*frozen.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(2, 3, requires_grad=True)
early = frozen(x).sum()
head(x).sum().backward()
both.step()
early.backward()
