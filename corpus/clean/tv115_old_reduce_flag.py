import torch
import torch.nn as nn
import torch.nn.functional as F

# Answers of a survey: 1 yes, 0 no, -1 not asked.
ANSWERS = torch.tensor([[1.0, 0.0, -1.0], [0.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 0.0, 0.0]])

torch.manual_seed(0)
features = torch.randn(4, 6)
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
asked = (ANSWERS >= 0).float()

for step in range(5):
    logits = net(features)
    # The old way to write `reduction="none"`.
    losses = F.binary_cross_entropy_with_logits(logits, ANSWERS, reduce=False)
    loss = (losses * asked).sum() / asked.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

people = F.multilabel_soft_margin_loss(net(features), ANSWERS, reduce=False)
print(people[asked.all(dim=1)].shape)
