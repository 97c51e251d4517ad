"""Activations are computed again to save memory, in each of the ways in which gradients arrive."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, width, depth, reentrant):
        super().__init__()
        self.reentrant = reentrant
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=self.reentrant)
        return x


class Classifier(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.stem = nn.Linear(8, 8)
        self.encoder = Encoder(8, 3, reentrant)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.encoder(self.stem(x)))


class Bare(nn.Module):
    """Nothing stands before the first checkpoint."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8, 2, reentrant=False)

    def forward(self, x):
        return self.encoder(x)


class Asking(nn.Module):
    """The input is made to require grad, as `enable_input_require_grads()` does."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8, 2, reentrant=True)

    def forward(self, x):
        return self.encoder(x.requires_grad_())


class FrozenStem(nn.Module):
    """The checkpointed part is frozen: nothing is lost."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8, 2, reentrant=True).requires_grad_(False)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.encoder(x))


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, 8), torch.randint(0, 4, (32,)))
    for model in (Classifier(True), Classifier(False), Bare(), Asking(), FrozenStem()):
        optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
        for x, y in DataLoader(data, batch_size=8):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(type(model).__name__, float(loss))
    trained = Classifier(True)
    trained.eval()
    with torch.no_grad():
        print(trained(torch.randn(2, 8)).argmax(dim=1))


main()
