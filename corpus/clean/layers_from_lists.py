"""Lists on the way to a module are fine."""
import torch
import torch.nn as nn


def vgg_block(n, cin, cout):
    layers = []
    for i in range(n):
        layers += [nn.Conv2d(cin if i == 0 else cout, cout, 3, padding=1), nn.ReLU(inplace=True)]
    layers.append(nn.MaxPool2d(2))
    return layers


class VGG(nn.Module):
    cfg = [(1, 8), (2, 16)]

    def __init__(self, num_classes=4):
        super().__init__()
        layers, cin = [], 3
        for n, cout in self.cfg:
            layers.extend(vgg_block(n, cin, cout))
            cin = cout
        self.features = nn.Sequential(*layers)
        self.branches = []
        for k in range(2):
            branch = nn.Linear(cin * 8 * 8, num_classes)
            self.add_module(f"branch{k}", branch)
            self.branches.append(branch)
        self.register_buffer("prior", torch.zeros(num_classes), persistent=False)

    def forward(self, x):
        x = self.features(x).flatten(1)
        return sum(branch(x) for branch in self.branches) / len(self.branches) + self.prior


device = "cuda" if torch.cuda.is_available() else "cpu"
net = VGG()
net.to(device)
net.eval()
net.train()
net.requires_grad_(True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(2):
    x = torch.rand(4, 3, 32, 32, device=device)
    y = torch.tensor([0, 1, 2, 3], device=device)
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
