"""Moths, fine-tuned from networks of torchvision, each with a head of its own."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models

SPECIES = 5


def small():
    model = models.mobilenet_v3_small(weights=None)
    model.classifier[3] = nn.Linear(1024, SPECIES)
    return model


def large():
    model = models.resnet18(weights=None)
    model.fc = nn.Linear(model.fc.in_features, SPECIES)
    return model


def renamed():
    # The program changes the attribute, and also the weight whose size it records.
    model = models.resnet18(weights=None)
    model.fc.out_features = SPECIES
    model.fc.weight = nn.Parameter(torch.randn(SPECIES, 512) * 0.01)
    model.fc.bias = nn.Parameter(torch.zeros(SPECIES))
    return model


def by_name(model):
    # The program tests which attribute the network has.
    if hasattr(model, "fc"):
        model.fc = nn.Linear(model.fc.in_features, SPECIES)
    else:
        model.classifier[-1] = nn.Linear(model.classifier[-1].in_features, SPECIES)
    return model


class Apart(nn.Module):
    """A head that the program calls itself."""

    def __init__(self):
        super().__init__()
        self.body = models.mobilenet_v3_small(weights=None)
        self.body.classifier = nn.Identity()
        self.body.head = nn.Linear(576, SPECIES)

    def forward(self, x):
        return self.body.head(self.body(x))


def finetune(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    model.train()
    for images, species in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), species)
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    moths = TensorDataset(torch.rand(8, 3, 64, 64), torch.randint(0, SPECIES, (8,)))
    loader = DataLoader(moths, batch_size=4)
    built = [small(), large(), renamed(), by_name(models.mobilenet_v3_small(weights=None)), Apart()]
    for model in built:
        print(finetune(model, loader))
