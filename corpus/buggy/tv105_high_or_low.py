import torch
import torch.nn as nn

torch.manual_seed(0)
features = torch.randn(64, 8)
score = features[:, 0] * 2 + features[:, 3]
label = score > 0.5

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
ce = nn.CrossEntropyLoss()
sgd = torch.optim.SGD(net.parameters(), lr=0.1)

for i in range(20):
    sgd.zero_grad()
    out = net(features)
    loss = ce(out, label)  # error: TV105
    loss.backward()
    sgd.step()
    if i % 10 == 0:
        print(i, loss.item())

pred = net(features).argmax(1)
print("right:", (pred == label).sum().item(), "of", len(label))
