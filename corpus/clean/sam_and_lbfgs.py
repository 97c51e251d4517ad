"""Two optimizers that evaluate the loss more than once for each step."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)

    @torch.no_grad()
    def first_step(self):
        grads = [p.grad.norm(2) for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = torch.norm(torch.stack(grads), 2)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    e = p.grad * (group["rho"] / (norm + 1e-12))
                    p.add_(e)
                    self.state[p]["e"] = e
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.sub_(self.state[p]["e"])
        self.base_optimizer.step()
        self.zero_grad()


torch.manual_seed(0)
x = torch.randn(40, 6)
y = (x[:, 0] > 0).long()

net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
sam = SAM(net.parameters(), torch.optim.SGD, lr=0.1)
for step in range(4):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    sam.first_step()
    F.cross_entropy(net(x), y).backward()
    sam.second_step()
    print("sam", step, loss.item())

lbfgs = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)


def closure():
    lbfgs.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    return loss


for step in range(3):
    print("lbfgs", step, lbfgs.step(closure).item())
