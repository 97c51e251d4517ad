import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(200, 8), torch.randint(0, 3, (200,)))
loader = DataLoader(data, batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters())


def accuracy():
    model.eval()
    with torch.no_grad():
        x, y = data.tensors
        result = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return result


model.train()
step = 0
for epoch in range(2):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 10 == 0:
            print(step, accuracy())

# Temperature scaling steps another optimizer, whose closure computes the gradients.
model.eval()
temperature = nn.Parameter(torch.ones(1))
scaling = torch.optim.LBFGS([temperature], lr=0.1)
with torch.no_grad():
    logits = model(data.tensors[0])


def closure():
    scaling.zero_grad()
    loss = F.cross_entropy(logits / temperature, data.tensors[1])
    loss.backward()
    return loss


for _ in range(3):
    scaling.step(closure)
