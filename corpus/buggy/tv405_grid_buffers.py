"""An occupancy grid whose buffers are declared in the class."""
import torch
import torch.nn as nn


class Grid(nn.Module):
    box = torch.Tensor
    cells: torch.Tensor

    def __init__(self, box, resolution=4):
        super().__init__()
        self.register_buffer("box", torch.tensor(box))  # error: TV405
        self.register_buffer("cells", torch.zeros(resolution, resolution))

    def forward(self, x):
        low, high = self.box
        return (x - low) / (high - low)


def main():
    grid = Grid([0.0, 2.0])
    print(grid(torch.rand(3)))


main()
