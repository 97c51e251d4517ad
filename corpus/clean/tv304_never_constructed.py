import torch.nn as nn


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)

    def forward(self, x):
        return self.conv(x).relu()


class Encoder(nn.Module):
    def __init__(self, channels, depth=3):
        super().__init__()
        blocks = []
        for level in range(depth):
            blocks.append(Block(channels * 2**level, channels * 2 ** (level + 1)))
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Towers(nn.Module):
    def __init__(self, width, teacher):
        super().__init__()
        # The tower is registered, too.
        self.tower = nn.Linear(width, width)
        self.towers = (self.tower,)
        # Modules without parameters need not be registered.
        self.acts = [nn.ReLU(), nn.Tanh()]
        # A teacher is kept out of the module on purpose.
        self.teacher = [teacher]

    def forward(self, x):
        for act in self.acts:
            x = act(x)
        return sum(tower(x) for tower in self.towers) + self.teacher[0](x)
