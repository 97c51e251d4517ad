import torch
import torch.nn as nn

torch.manual_seed(0)
ACCUMULATE = 4
model = nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
count = 0
for batch in range(400):
    count += 1
    loss = model(torch.randn(8, 6)).pow(2).mean()
    if count % ACCUMULATE == 0:
        optimizer.zero_grad()  # error: TV602
    loss.backward()
    if count % ACCUMULATE == 0:
        optimizer.step()
        count = 0
