"""A classifier of short echoes, with blocks in a row."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class Down(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv1d(inner, outer, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = Down(1, 8)
        self.down2 = Down(8, 8)
        self.down3 = Down(8, 8)
        self.down4 = Down(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x1 = self.down1(x)
        x2 = self.down2(x1)
        x3 = self.down2(x2)  # warning: TV646
        x4 = self.down2(x3)  # warning: TV646
        return self.head(x4.mean(dim=-1))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)
        self.feed = nn.Linear(width, width)

    def forward(self, x):
        x = x + self.mix(self.norm1(x))
        return x + self.feed(self.norm1(x))  # warning: TV646


model = nn.Sequential(Encoder(), Block(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(4, 1, 32)), torch.randint(2, (4,)))
    loss.backward()
    optimizer.step()
print(loss.item())
