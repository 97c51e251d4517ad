import torch
import torch.nn as nn


class DeepSupervision(nn.Module):
    """The mean loss of all outputs."""

    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()

    def forward(self, outputs, target):
        for out in outputs:
            small = nn.functional.interpolate(target, out.shape[-2:])
            return self.loss(out, small)  # warning: TV635


criterion = DeepSupervision()
model = nn.Conv2d(3, 1, 3, padding=1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(2, 3, 8, 8), torch.randn(2, 1, 8, 8)
for _ in range(3):
    out = model(x)
    loss = criterion([out, nn.functional.avg_pool2d(out, 2)], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
