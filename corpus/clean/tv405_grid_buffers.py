"""An occupancy grid whose buffers are only annotated in the class, and replaced later."""
import torch
import torch.nn as nn


class Grid(nn.Module):
    box: torch.Tensor
    cells: torch.Tensor
    steps = 3

    def __init__(self, box, resolution=4):
        super().__init__()
        self.register_buffer("box", torch.tensor(box))
        self.register_buffer("cells", torch.zeros(resolution, resolution))
        self.register_buffer("cells", torch.ones(resolution, resolution))
        self.register_parameter("scale", None)
        self.register_parameter("scale", nn.Parameter(torch.ones(1)))
        self.layer = nn.Linear(1, 1)
        self.add_module("layer", nn.Linear(2, 2))
        self.offset = None
        del self.offset
        if resolution > 8:
            self.large = None
        if resolution <= 8:
            self.register_buffer("large", torch.zeros(resolution))
        self.register_buffer("offset", torch.zeros(1))

    def forward(self, x):
        low, high = self.box
        return (x - low) / (high - low) * self.scale + self.offset


def main():
    grid = Grid([0.0, 2.0])
    print(grid(torch.rand(3)), grid.steps)


main()
