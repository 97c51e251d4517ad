"""How often two classifiers agree, class by class."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
CLASSES = 6


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, CLASSES))

    def forward(self, x):
        return self.layers(x)


def votes(model, x):
    predicted = model(x).argmax(dim=-1)
    return F.one_hot(predicted)  # warning: TV127


def hard(logits):
    index = torch.argmax(logits, dim=1)
    return nn.functional.one_hot(index.long()).float()  # warning: TV127


first, second = Classifier(), Classifier()
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(3):
    x, y = torch.randn(32, 8), torch.randint(0, CLASSES, (32,))
    optimizer.zero_grad()
    loss = F.cross_entropy(first(x), y) + F.cross_entropy(second(x), y)
    loss.backward()
    optimizer.step()
print(votes(first, x).sum(dim=0), hard(second(x)).sum(dim=0))
