import torch
import torch.nn as nn


def one_hot(labels, num_classes):
    """labels: [B] -> [B, num_classes]"""
    y = torch.zeros(labels.size(0), num_classes)
    return y.scatter_(1, labels.view(-1, 1), 1.0)


torch.manual_seed(0)
x = torch.randn(6, 4)
labels = torch.tensor([0, 2, 5, 1, 4, 3])

model = nn.Linear(4, 6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

targets = one_hot(labels, 6)
print(targets)

for _ in range(10):
    loss = nn.functional.binary_cross_entropy_with_logits(model(x), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
