"""Softmax inside a network is not softmax before the loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, x):
        w = torch.softmax(self.score(x), dim=1)
        return (w * x).sum(dim=1)


class SqueezeExcite(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc = nn.Linear(c, c)

    def forward(self, x):
        g = torch.sigmoid(self.fc(x.mean(dim=(2, 3))))
        return x * g[:, :, None, None]


class Net(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5, stride=2)
        self.se = SqueezeExcite(16)
        self.pool = AttentionPool(16)
        self.fc = nn.Linear(16, n_classes)

    def forward(self, x):
        x = self.se(F.relu(self.conv(x)))
        x = rearrange(x, "b c h w -> b (h w) c")
        logits = self.fc(self.pool(x))
        return {"logits": logits, "probs": F.softmax(logits, dim=-1)}


net = Net()
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05, weight=torch.tensor([1.0, 2.0, 0.5]))
opt = torch.optim.Adam(net.parameters())
for step in range(3):
    x, y = torch.randn(8, 1, 20, 20), torch.randint(3, (8,))
    out = net(x)
    loss = loss_fn(out["logits"], y)
    entropy = -(out["probs"] * out["probs"].clamp(min=1e-8).log()).sum(dim=1).mean()
    (loss - 0.01 * entropy).backward()
    opt.step()
    opt.zero_grad()
    accuracy = (out["probs"].argmax(1) == y).float().mean()
    print(step, loss.item(), accuracy.item())
