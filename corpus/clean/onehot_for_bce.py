import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
CLASSES = 5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(12, 24)
        self.head = nn.Linear(24, CLASSES)

    def forward(self, x):
        return self.head(F.relu(self.trunk(x)))

    @torch.no_grad()
    def predict(self, x):
        probs = F.softmax(self(x), dim=1)
        return probs.argmax(dim=1), probs


def sigmoid_focal(logits, labels, gamma=2.0, alpha=0.25):
    onehot = F.one_hot(labels, CLASSES).float()
    ce = F.binary_cross_entropy_with_logits(logits, onehot, reduction="none")
    p_t = torch.exp(-ce)
    alpha_t = alpha * onehot + (1 - alpha) * (1 - onehot)
    return (alpha_t * (1 - p_t) ** gamma * ce).sum(dim=1).mean()


x = torch.randn(50, 12)
y = torch.arange(50) % CLASSES
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(10):
    logits = net(x)
    loss = sigmoid_focal(logits, y) + 0.1 * F.nll_loss(F.log_softmax(logits, dim=1), y)
    loss = loss + 0.1 * F.kl_div(F.log_softmax(logits, dim=1), torch.full_like(logits, 1 / CLASSES), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
pred, probs = net.predict(x)
print(loss.item(), (pred == y).float().mean().item(), probs.sum(dim=1).mean().item())
