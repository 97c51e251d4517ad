import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoScaleNet(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.out1 = nn.Conv2d(8, n_classes, 1)
        self.out2 = nn.Conv2d(16, n_classes, 1)

    def forward(self, x):
        f1 = F.relu(self.c1(x))
        f2 = F.relu(self.c2(f1))
        return self.out1(f1), self.out2(f2)


def multi_scale_loss(outputs, target):
    loss = 0.0
    for out in outputs:
        size = out.shape[-2:]
        small = F.interpolate(target.unsqueeze(1).float(), size=size, mode="nearest").squeeze(1).long()
        loss = loss + F.cross_entropy(out, small)
    return loss


torch.manual_seed(0)
net = TwoScaleNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(2, 1, 32, 32)
    target = torch.randint(0, 4, (2, 32, 32))
    loss = multi_scale_loss(net(x), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
