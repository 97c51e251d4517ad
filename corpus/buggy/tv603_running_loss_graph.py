import torch
import torch.nn as nn


def train_one_epoch(model, batches, criterion, optimizer):
    total_loss = 0
    for x, y in batches:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss  # warning: TV603
    return total_loss / len(batches)


model = nn.Linear(6, 3)
batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(5)]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    print(epoch, float(train_one_epoch(model, batches, nn.CrossEntropyLoss(), optimizer)))
