import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
model, critic = nn.Linear(4, 1), nn.Linear(1, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    # A new optimizer for each epoch makes several steps.
    critic_optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2, momentum=0.9)
    for step, (x, y) in enumerate(loader):
        critic_optimizer.zero_grad()
        (critic(model(x).detach()) - critic(y)).mean().backward()
        critic_optimizer.step()

        # Once, the learning rate is lowered.
        if step == 5:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        optimizer.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        optimizer.step()

        # Without momentum, plain SGD has no state.
        plain = torch.optim.SGD(model.parameters(), lr=1e-3)
        plain.zero_grad()
        model(x).pow(2).mean().backward()
        plain.step()

        # The parameters are new, too.
        shift = torch.zeros(1, requires_grad=True)
        search = torch.optim.Adam([shift], lr=0.1)
        search.zero_grad()
        (model(x).detach() + shift - y).pow(2).mean().backward()
        search.step()
    print(epoch)
