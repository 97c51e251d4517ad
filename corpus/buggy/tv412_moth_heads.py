"""Moths, fine-tuned from two networks of torchvision, each with a head that is none."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models

SPECIES = 5


def small():
    model = models.mobilenet_v3_small(weights=None)
    model.fc = nn.Linear(1024, SPECIES)  # error: TV412
    return model


def large():
    model = models.resnet18(weights=None)
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.fc.requires_grad_(True)
    model.fc.out_features = SPECIES  # error: TV411
    return model


def finetune(model, loader):
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=1e-3)
    model.train()
    for images, species in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), species)
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    moths = TensorDataset(torch.rand(8, 3, 64, 64), torch.randint(0, SPECIES, (8,)))
    for build in (small, large):
        print(build.__name__, finetune(build(), DataLoader(moths, batch_size=4)))
