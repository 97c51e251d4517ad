import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1), nn.Sigmoid()).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(4):
    x = torch.randn(16, 10, device=device)
    y = (x.mean(dim=1, keepdim=True) > 0).float()
    with torch.autocast(device.type, dtype=torch.bfloat16):
        p = net(x)
        with torch.autocast(device.type, enabled=False):
            inner = F.binary_cross_entropy(p.float(), y)
    outer = F.binary_cross_entropy(p.float(), y)
    loss = 0.5 * (inner + outer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
