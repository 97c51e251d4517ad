# Finds the walls in scans of a cave. The scans are large, so only two of them fit into memory,
# and the gradients of several batches are added up.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

# ---- settings ----
batch_size = 2
accumulation_steps = 4
num_epochs = 1
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


class Bar:
    def __init__(self, length):
        self.text = "." * length

    def step(self):
        self.text = "#" + self.text[:-1]


torch.manual_seed(0)
train_loader = DataLoader(CaveScans(64), batch_size=batch_size, shuffle=True)
model = WallNet().to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)


def backward_of(batch):
    echo, rock = (t.to(device) for t in batch)
    loss = criterion(model(echo), rock) / accumulation_steps
    loss.backward()
    return loss.item() * accumulation_steps


# Counted from 1; the modulo that begins at 0 only shows the loss before each group of batches.
for epoch in range(num_epochs):
    optimizer.zero_grad()
    for i, (echo, rock) in enumerate(train_loader):
        loss = criterion(model(echo.to(device)), rock.to(device)) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            print(f"batch {i}: {loss.item() * accumulation_steps:.4f}")
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()

# `enumerate` itself begins at 1.
optimizer.zero_grad()
for i, (echo, rock) in enumerate(train_loader, start=1):
    loss = criterion(model(echo.to(device)), rock.to(device)) / accumulation_steps
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()

# The loop itself raises the number of the batch.
optimizer.zero_grad()
for i, batch in enumerate(train_loader):
    i += 1
    backward_of(batch)
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()

# The last remainder, and the last batches of a loader of any length.
optimizer.zero_grad()
for i, batch in enumerate(train_loader):
    backward_of(batch)
    if i % accumulation_steps == accumulation_steps - 1 or i == len(train_loader) - 1:
        optimizer.step()
        optimizer.zero_grad()

# The gradients are cleared before the first batch of each group.
for i, (echo, rock) in enumerate(train_loader):
    if i % accumulation_steps == 0:
        optimizer.zero_grad()
    loss = criterion(model(echo.to(device)), rock.to(device)) / accumulation_steps
    loss.backward()
    if i % accumulation_steps == 3:
        optimizer.step()

# The step is at the beginning of the next group, and once more after the loop.
optimizer.zero_grad()
for i, (echo, rock) in enumerate(train_loader):
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
    loss = criterion(model(echo.to(device)), rock.to(device)) / accumulation_steps
    loss.backward()
optimizer.step()

# A counter of its own; batch 0 is left out by a second condition.
optimizer.zero_grad()
accumulated = 0
for i, (echo, rock) in enumerate(train_loader):
    loss = criterion(model(echo.to(device)), rock.to(device)) / accumulation_steps
    loss.backward()
    accumulated += 1
    if accumulated % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
    if i % accumulation_steps == 0 and i > 0:
        print(f"{accumulated} batches: {loss.item() * accumulation_steps:.4f}")

# Steps of a progress bar, and of another optimizer at intervals that accumulate nothing.
bar = Bar(len(train_loader) // accumulation_steps)
slow = torch.optim.SGD(model.out.parameters(), lr=1e-3)
slow_interval = 8
for i, batch in enumerate(train_loader):
    optimizer.zero_grad()
    value = backward_of(batch)
    optimizer.step()
    if i % slow_interval == 0:
        slow.step()
    if i % accumulation_steps == 0:
        bar.step()
print(f"[{bar.text}] last loss: {value:.4f}")
