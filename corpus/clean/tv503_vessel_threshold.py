import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def fake_vessel_mask(n, h, w):
    m = np.zeros((n, h, w), dtype=np.uint8)
    m[:, h // 3 : h // 2, :] = 255
    return m


images = torch.rand(4, 1, 32, 32)
masks = torch.from_numpy(fake_vessel_mask(4, 32, 32))

net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ELU(), nn.Conv2d(6, 2, 3, padding=1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(5):
    logits = net(images)
    loss = F.cross_entropy(logits, (masks // 255).to(torch.int64))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
