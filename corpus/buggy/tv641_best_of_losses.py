import copy

import torch
import torch.nn as nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(2, (32,))
best_loss = -1
best_acc, best_model = 1.0, None
for epoch in range(5):
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    epoch_loss = loss.item()
    val_acc = (out.argmax(dim=1) == y).float().mean().item()
    if best_loss < epoch_loss:  # warning: TV641
        best_loss = epoch_loss
        best_model = copy.deepcopy(model.state_dict())
    if val_acc > best_acc:  # warning: TV641
        print("no improvement")
    else:
        best_acc = val_acc
print(best_loss, best_acc, best_model is not None)
