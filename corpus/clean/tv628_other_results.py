"""Modules whose `forward` keeps its result elsewhere, or has none."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Recorder(nn.Module):
    def forward(self, x):
        self.last = F.relu(x)


class Abstract(nn.Module):
    def forward(self, x):
        name = type(self).__name__
        raise NotImplementedError(name)


class Stream(nn.Module):
    def forward(self, x):
        for row in x:
            yield F.relu(row)


class Silent(nn.Module):
    def forward(self, x):
        """Runs for its side effects."""
        print(x.shape)


recorder = Recorder()
recorder(torch.ones(2))
Silent()(torch.ones(2))
print(recorder.last, list(Stream()(torch.ones(2, 1))))
x = torch.zeros(1, 3)
x.squeeze_(0)
torch.clamp(x, 0, 1, out=x)
try:
    x.view(7)
except RuntimeError as error:
    print(error)
