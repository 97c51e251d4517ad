"""The learning rates of a schedule, drawn without training."""

import torch

model = torch.nn.Conv2d(3, 16, 3, 1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
rates = []
for _ in range(100):
    rates.append(scheduler.get_last_lr()[0])
    optimizer.step()
    scheduler.step()
print(rates[-1])
