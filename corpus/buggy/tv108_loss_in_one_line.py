import torch
import torch.nn as nn

x = torch.randn(32, 5)
y = torch.randint(0, 3, (32,))

model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for epoch in range(10):
    output = model(x)
    loss = nn.CrossEntropyLoss(output, y)  # error: TV108
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 2 == 0:
        print(f"epoch {epoch}: {loss.item()}")
