import torch
import torch.nn as nn
import torch.nn.functional as F


class Pyramid(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.head = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.Dropout(0.1, inplace=True),
            nn.Conv2d(8, classes, 1),
        )

    def forward(self, x):
        return self.head(self.features(x))


net = Pyramid(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = F.cross_entropy(net(torch.randn(2, 3, 16, 16)), torch.randint(0, 4, (2, 16, 16)))
optimizer.zero_grad()
loss.backward()  # error: TV608
optimizer.step()
