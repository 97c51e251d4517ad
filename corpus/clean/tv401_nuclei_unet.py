import torch
import torch.nn as nn

IMAGE_SIZE = 96


def double_conv(a, b):
    return nn.Sequential(
        nn.Conv2d(a, b, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(b, b, 3, padding=1),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, out_channels=1):
        super().__init__()
        self.d1 = double_conv(1, 8)
        self.d2 = double_conv(8, 16)
        self.d3 = double_conv(16, 32)
        self.d4 = double_conv(32, 64)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.u3 = double_conv(64 + 32, 32)
        self.u2 = double_conv(32 + 16, 16)
        self.u1 = double_conv(16 + 8, 8)
        self.last = nn.Conv2d(8, out_channels, 1)

    def forward(self, x):
        c1 = self.d1(x)
        c2 = self.d2(self.pool(c1))
        c3 = self.d3(self.pool(c2))
        x = self.d4(self.pool(c3))
        x = self.u3(torch.cat([self.up(x), c3], dim=1))
        x = self.u2(torch.cat([self.up(x), c2], dim=1))
        x = self.u1(torch.cat([self.up(x), c1], dim=1))
        return self.last(x)


model = UNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
criterion = nn.BCEWithLogitsLoss()
for step in range(2):
    images = torch.rand(2, 1, IMAGE_SIZE, IMAGE_SIZE)
    masks = (torch.rand(2, 1, IMAGE_SIZE, IMAGE_SIZE) > 0.5).float()
    loss = criterion(model(images), masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
