"""U-Net on synthetic road scenes. The outline of every object is not annotated."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

VOID = 255


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(cin, cout, 3, padding=1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.block(x)


class UNet(nn.Module):
    def __init__(self, n_channels=3, n_classes=4):
        super().__init__()
        self.inc = DoubleConv(n_channels, 8)
        self.down1 = DoubleConv(8, 16)
        self.down2 = DoubleConv(16, 32)
        self.up1 = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.conv1 = DoubleConv(32, 16)
        self.up2 = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.conv2 = DoubleConv(16, 8)
        self.outc = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(F.max_pool2d(x1, 2))
        x3 = self.down2(F.max_pool2d(x2, 2))
        x = self.conv1(torch.cat([x2, self.up1(x3)], dim=1))
        x = self.conv2(torch.cat([x1, self.up2(x)], dim=1))
        return self.outc(x)


class RoadScenes(Dataset):
    def __init__(self, n=12, size=32):
        self.n = n
        self.size = size

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        image = torch.rand(3, self.size, self.size)
        mask = torch.zeros(self.size, self.size, dtype=torch.long)
        mask[8:24, 8:24] = idx % 4
        mask[8, 8:24] = VOID
        mask[23, 8:24] = VOID
        return image, mask


def train_one_epoch(net, loader, criterion, optimizer, device):
    net.train()
    for images, masks in loader:
        images, masks = images.to(device), masks.to(device)
        optimizer.zero_grad()
        pred = net(images)
        loss = criterion(pred, masks)
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = UNet(n_classes=4).to(dev)
    loader = DataLoader(RoadScenes(), batch_size=4, shuffle=True)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-4)
    criterion = nn.CrossEntropyLoss(ignore_index=VOID)
    for epoch in range(2):
        print(epoch, train_one_epoch(net, loader, criterion, optimizer, dev))
