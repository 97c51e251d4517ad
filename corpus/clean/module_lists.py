"""Modules in plain lists, each for a reason."""
import copy

import torch
import torch.nn as nn


class Stacked(nn.Module):
    """The list is only a way to build the Sequential."""

    def __init__(self, depth):
        super().__init__()
        self.layers = []
        for _ in range(depth):
            self.layers += [nn.Linear(8, 8), nn.ReLU()]
        self.net = nn.Sequential(*self.layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Named(nn.Module):
    """Each is registered under a name of its own as well."""

    def __init__(self):
        super().__init__()
        self.blocks = []
        for i in range(3):
            block = nn.Linear(8, 8)
            self.add_module(f"block{i}", block)
            self.blocks.append(block)
        self.heads = {}
        for name in ("a", "b"):
            head = nn.Linear(8, 2)
            setattr(self, f"head_{name}", head)
            self.heads[name] = head

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return {name: head(x) for name, head in self.heads.items()}


class WithTeacher(nn.Module):
    """A teacher is kept out of the parameters on purpose."""

    def __init__(self, student, teacher):
        super().__init__()
        self.student = student
        self.teacher = [teacher]
        self.activations = [nn.ReLU(), nn.GELU()]

    def forward(self, x):
        with torch.no_grad():
            aim = self.teacher[0](x)
        for activation in self.activations:
            x = activation(x)
        return self.student(x), aim


class Apart(nn.Module):
    """The parameters of the list have an optimizer of their own."""

    def __init__(self):
        super().__init__()
        self.experts = [nn.Linear(8, 8) for _ in range(2)]

    def forward(self, x):
        return sum(expert(x) for expert in self.experts)


x = torch.randn(4, 8)
student = nn.Linear(8, 8)
model = WithTeacher(student, copy.deepcopy(student))
apart = Apart()
experts = torch.optim.SGD([p for expert in apart.experts for p in expert.parameters()], lr=0.1)
optimizer = torch.optim.SGD([*Stacked(2).parameters(), *Named().parameters(), *model.parameters()], lr=0.1)
out, aim = model(x)
loss = nn.functional.mse_loss(out, aim) + Stacked(2)(x).mean() + sum(h.mean() for h in Named()(x).values())
loss = loss + apart(x).mean()
loss.backward()
optimizer.step()
experts.step()
