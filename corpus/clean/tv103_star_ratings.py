import torch
import torch.nn as nn
import torch.nn.functional as F

# ratings given by customers, one to five stars
reviews = {
    "length": [12, 80, 45, 7, 150, 33, 64, 21],
    "exclamations": [0, 3, 1, 0, 5, 2, 2, 0],
    "stars": [1, 5, 3, 2, 5, 4, 4, 1],
}

X = torch.tensor([reviews["length"], reviews["exclamations"]], dtype=torch.float32).t()
X = (X - X.mean(0)) / X.std(0)
y = torch.tensor(reviews["stars"]) - 1

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
X, y = X.to(device), y.to(device)


class StarNet(nn.Module):
    def __init__(self):
        super(StarNet, self).__init__()
        self.fc1 = nn.Linear(2, 32)
        self.fc2 = nn.Linear(32, 5)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        return self.fc2(x)


net = StarNet().to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

for step in range(20):
    optimizer.zero_grad()
    scores = net(X)
    loss = F.cross_entropy(scores, y)
    loss.backward()
    optimizer.step()

with torch.no_grad():
    pred = net(X).argmax(dim=1)
    print("accuracy:", (pred == y).float().mean().item())
