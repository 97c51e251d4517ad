import copy
import math

import torch
import torch.nn as nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(2, (32,))
best_loss, best_model = math.inf, None
best_acc = -1
max_loss = 0.0
# The loss of the sample that is hardest for the model.
best_hard_loss = float("-inf")
patience = 0
for epoch in range(5):
    out = model(x)
    losses = nn.functional.cross_entropy(out, y, reduction="none")
    loss = losses.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    epoch_loss = loss.item()
    hard_loss = losses.max().item()
    val_acc = (out.argmax(dim=1) == y).float().mean().item()
    if best_loss < epoch_loss:
        patience += 1
    else:
        best_loss = epoch_loss
        best_model = copy.deepcopy(model.state_dict())
    if not val_acc <= best_acc:
        best_acc = val_acc
    if epoch_loss > max_loss:
        max_loss = epoch_loss
    if hard_loss > best_hard_loss:
        best_hard_loss = hard_loss

# The last value is a loss or a score, so the program compares it in both directions.
is_regression = len(losses.shape) == 1
best_val_loss = 1e30 if is_regression else 0
for val_loss in (0.5, 0.7):
    if is_regression:
        if val_loss < best_val_loss:
            best_val_loss = val_loss
    elif val_loss > best_val_loss:
        best_val_loss = val_loss
print(best_loss, best_acc, max_loss, best_hard_loss, patience, best_model is not None)
