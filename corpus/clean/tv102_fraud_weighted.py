import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

# one fraud in ten
x = torch.randn(400, 12)
y = torch.zeros(400, dtype=torch.long)
y[::10] = 1

class_weights = torch.tensor([1.0, 9.0])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 24)
        self.b = nn.Linear(24, 2)

    def forward(self, x):
        return self.b(F.leaky_relu(self.a(x)))


model = Net()
criterion = nn.CrossEntropyLoss(weight=class_weights)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(3):
    for i in range(0, len(x), 50):
        xb = x[i : i + 50]
        yb = y[i : i + 50]
        opt.zero_grad()
        logits = model(xb)
        loss = criterion(logits, yb)
        loss.backward()
        opt.step()
    print(epoch, round(loss.item(), 4))
