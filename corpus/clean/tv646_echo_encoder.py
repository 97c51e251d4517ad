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
        x3 = self.down3(x2)
        x4 = self.down4(x3)
        return self.head(x4.mean(dim=-1))


# An activation has no parameters.
class Activated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.relu1 = nn.ReLU()
        self.relu2 = nn.ReLU()
        self.lower = nn.Linear(width, width)
        self.upper = nn.Linear(width, width)

    def forward(self, x):
        return self.relu1(self.upper(self.relu1(self.lower(x))))


# Two inputs share their layers; the last layer is from an older version.
class Twins(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.project5 = nn.Linear(width, width)
        self.project6 = nn.Linear(width, width)

    def forward(self, pair):
        left, right = pair
        left = self.project5(self.embed(left))
        right = self.project5(self.embed(right))
        return (left - right).square().sum(dim=-1)


# The branches of a condition call the same layer.
class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate7 = nn.Linear(width, width)
        self.gate8 = nn.Linear(width, width)

    def forward(self, x):
        if x.ndim == 3:
            return self.gate7(x.mean(dim=1))
        return self.gate7(x)


# All layers are found by their names.
class ByName(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.step9 = nn.Linear(width, width)
        self.step10 = nn.Linear(width, width)

    def forward(self, x):
        x = self.step9(self.step9(x))
        return getattr(self, f"step{x.shape[-1] + 8}")(x)


model = nn.Sequential(Encoder(), Activated(2), Gated(2), ByName(2))
twins = Twins(4)
optimizer = torch.optim.SGD([*model.parameters(), *twins.parameters()], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(4, 1, 32)), torch.randint(2, (4,)))
    loss = loss + twins((torch.rand(3, 4), torch.rand(3, 4))).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
