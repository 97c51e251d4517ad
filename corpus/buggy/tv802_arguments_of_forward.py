import torch
import torch.nn as nn


class Chamfer(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, points, target, squared=False):
        distances = torch.cdist(points, target).amin(dim=-1)
        return self.scale * (distances**2 if squared else distances).mean()


def train(options, points, target):
    if options["loss"] == "chamfer":
        chamfer = Chamfer(options["scale"])
        loss = chamfer(points, target, squared=True, device=points.device)  # error: TV802
    else:
        loss = (points - target).abs().mean()
    return loss


print(train({"loss": "chamfer", "scale": 2.0}, torch.randn(2, 5, 3), torch.randn(2, 5, 3)))
