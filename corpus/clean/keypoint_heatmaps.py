"""Heat maps of joints are continuous: they may be interpolated."""
import cv2
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def gaussian(h, w, cy, cx, sigma=3.0):
    ys, xs = np.mgrid[0:h, 0:w]
    return np.exp(-((ys - cy) ** 2 + (xs - cx) ** 2) / (2 * sigma**2)).astype(np.float32)


def make_target(points, size=64, out=16):
    maps = np.stack([gaussian(size, size, y, x) for y, x in points])
    maps = np.stack([cv2.resize(m, (out, out)) for m in maps])
    return torch.from_numpy(maps)


class HeatmapNet(nn.Module):
    def __init__(self, joints):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=4, padding=1)
        self.head = nn.Conv2d(16, joints, 1)

    def forward(self, x):
        return self.head(F.relu(self.stem(x)))


torch.manual_seed(0)
net = HeatmapNet(joints=3)
target = torch.stack([make_target([(10, 20), (30, 30), (50, 12)]) for _ in range(4)])
images = torch.rand(4, 3, 64, 64)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(5):
    heat = net(images)
    loss = F.mse_loss(heat, target)
    coarse = F.interpolate(target, size=(8, 8), mode="bilinear", align_corners=False)
    loss = loss + 0.5 * F.mse_loss(F.avg_pool2d(heat, 2), coarse)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
best = heat.detach().flatten(2).argmax(dim=2)
print(loss.item(), torch.stack([best // 16, best % 16], dim=2)[0])
