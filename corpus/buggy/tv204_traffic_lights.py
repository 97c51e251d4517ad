import torch
import torch.nn as nn
import torch.nn.functional as F

# 0 red, 1 yellow, 2 green, 3 off
state = torch.tensor([0, 0, 2, 1, 3, 2, 0, 3])
crops = torch.rand(8, 3, 20, 8)

NUM_STATES = 3


class LightNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(3 * 20 * 8, NUM_STATES)

    def forward(self, x):
        return self.fc(self.flatten(x))


def focal_loss(logits, target, gamma=2.0):
    y = F.one_hot(target, num_classes=NUM_STATES).float()  # error: TV204
    p = logits.sigmoid()
    pt = p * y + (1 - p) * (1 - y)
    bce = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
    return ((1 - pt) ** gamma * bce).mean()


net = LightNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    loss = focal_loss(net(crops), state)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
