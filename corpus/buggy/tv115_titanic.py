import numpy as np
import torch
import torch.nn as nn

np.random.seed(12)
n = 400
pclass = np.random.randint(1, 4, n)
age = np.random.uniform(1, 80, n)
sex = np.random.randint(0, 2, n)
survived = ((sex == 1) & (pclass < 3)).astype(np.int64)

X = torch.from_numpy(np.stack([pclass, age / 80, sex], axis=1).astype(np.float32))
y = torch.from_numpy(survived).unsqueeze(1)


class Titanic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(3, 12)
        self.layer2 = nn.Linear(12, 1)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        x = torch.relu(self.layer1(x))
        return self.sigmoid(self.layer2(x))


model = Titanic()
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for epoch in range(30):
    y_hat = model(X)
    loss = criterion(y_hat, y)  # error: TV115
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 10 == 0:
        print(f"{epoch + 1}: {loss.item():.4f}")
