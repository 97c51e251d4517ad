# Finds the walls in scans of a cave. The scans are large, so only two of them fit into memory,
# and the gradients of several batches are added up.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

# ---- settings ----
batch_size = 2
accumulation_steps = 4
num_epochs = 2
learning_rate = 2e-3
size = 32
device = "cuda" if torch.cuda.is_available() else "cpu"


class CaveScans(Dataset):
    """A passage of random width that winds from left to right."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        g = torch.Generator().manual_seed(idx)
        bends = torch.cumsum(torch.randn(size, generator=g), dim=0).clamp(-8, 8)
        width = 3 + 5 * torch.rand(1, generator=g)
        rows = torch.arange(size).unsqueeze(1)
        rock = ((rows - size / 2 - bends).abs() > width).float()
        echo = rock + 0.4 * torch.randn(size, size, generator=g)
        return echo.unsqueeze(0), rock.unsqueeze(0)


class WallNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.middle = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.out = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x):
        h = self.middle(self.down(x))
        return self.out(F.interpolate(h, scale_factor=2, mode="bilinear", align_corners=False))


class Refiner:
    """Trains the last layer again, with another optimizer and clipped gradients."""

    def __init__(self, model, accum_iter):
        self.model = model
        self.accum_iter = accum_iter
        self.opt = torch.optim.SGD(model.out.parameters(), lr=0.05, momentum=0.9)

    def run_epoch(self, loader):
        self.opt.zero_grad()
        for batch_idx, batch in enumerate(loader):
            echo, rock = (t.to(device) for t in batch)
            loss = F.binary_cross_entropy_with_logits(self.model(echo), rock)
            (loss / self.accum_iter).backward()
            if batch_idx % self.accum_iter == 0:  # warning: TV665
                nn.utils.clip_grad_norm_(self.model.out.parameters(), 5.0)
                self.opt.step()
                self.opt.zero_grad()
        return loss.item()


torch.manual_seed(0)
train_loader = DataLoader(CaveScans(64), batch_size=batch_size, shuffle=True)
model = WallNet().to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)

steps = 0
for epoch in range(num_epochs):
    model.train()
    running_loss = 0.0
    optimizer.zero_grad()
    for i, (echo, rock) in enumerate(train_loader):
        echo, rock = echo.to(device), rock.to(device)
        loss = criterion(model(echo), rock)
        running_loss += loss.item()
        loss = loss / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:  # warning: TV665
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
    print(f"epoch {epoch}: loss {running_loss / len(train_loader):.4f}, {steps} steps")

refiner = Refiner(model, accum_iter=4)
print(f"refined: {refiner.run_epoch(train_loader):.4f}")
