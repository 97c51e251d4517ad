import torch
import torch.nn as nn
import torch.nn.functional as F

best = 0.0


def validate(model, batches):
    correct = total = 0
    for images, labels in batches:
        prediction = model(images).argmax(1)
        correct += (predictions == labels).sum().item()  # error: TV803
        total += labels.numel()
    return correct / total


def keep_best(accuracy):
    if accuracy > best:  # error: TV803
        best = accuracy


def describe(model, short):
    if short:
        layers = len(list(model.children()))
    else:
        return [layer for layer in layers]  # error: TV803
    return [os.path.basename(str(layers))]  # error: TV803


model = nn.Linear(4, 3)
data = [(torch.randn(2, 4), torch.tensor([0, 2])) for _ in range(3)]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in data:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
keep_best(validate(model, data))
