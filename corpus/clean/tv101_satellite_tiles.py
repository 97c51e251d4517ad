"""Land cover from small satellite tiles (random stand-ins for the real ones)."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Tiles(Dataset):
    def __init__(self, n=16, size=24, classes=5):
        rng = np.random.RandomState(0)
        self.images = rng.rand(n, size, size, 3).astype(np.float32)
        self.masks = rng.randint(0, classes, size=(n, size, size)).astype(np.uint8)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).permute(2, 0, 1)
        mask = torch.from_numpy(self.masks[i]).long()
        return img, mask


class FCN(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.Upsample(scale_factor=4, mode="bilinear", align_corners=False),
            nn.Conv2d(32, classes, kernel_size=1),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_set, val_set = random_split(Tiles(), [12, 4])
    train_loader = DataLoader(train_set, batch_size=4, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=4)
    model = FCN().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss()

    for epoch in range(2):
        model.train()
        for img, mask in train_loader:
            img = img.to(device)
            mask = mask.to(device)
            out = model(img)
            loss = criterion(out, mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        model.eval()
        with torch.no_grad():
            hits = 0
            for img, mask in val_loader:
                hits += (model(img.to(device)).argmax(1).cpu() == mask).sum().item()
        print(epoch, loss.item(), hits / (len(val_set) * 24 * 24))


main()
