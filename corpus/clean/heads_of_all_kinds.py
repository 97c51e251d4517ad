"""Heads whose width is not the number of classes, each for a good reason."""
import torch
import torch.nn as nn
import torchvision
from torch.utils.data import DataLoader, Dataset

CLASSES = ["bolt", "nut", "washer"]


class Parts(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        name = CLASSES[i % 3]
        several = torch.zeros(len(CLASSES))
        several[CLASSES.index(name)] = 1.0
        return torch.rand(3, 32, 32), CLASSES.index(name) + 1, several, float(i)


class Backbone(nn.Module):
    def __init__(self, num_classes=len(CLASSES)):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        return self.fc(self.features(x))


# Class 0 is the background.
with_background = Backbone(len(CLASSES) + 1)
# Several labels for each image, each with its own sigmoid.
several_labels = Backbone()
# Regression: the output is a number, not a class.
regression = Backbone(num_classes=1)
# The head of the pretrained model is replaced before it is used.
replaced = torchvision.models.resnet18(weights=None, num_classes=2)
replaced.fc = nn.Linear(replaced.fc.in_features, len(CLASSES) + 1)
# The head has the classes of several datasets, so more than this one.
joint = Backbone(10)

cross_entropy = nn.CrossEntropyLoss()
for image, label, labels, weight in DataLoader(Parts(), batch_size=3):
    losses = [
        cross_entropy(with_background(image), label),
        nn.functional.binary_cross_entropy_with_logits(several_labels(image), labels),
        nn.functional.mse_loss(regression(image).squeeze(1), weight.float()),
        cross_entropy(replaced(image), label),
        cross_entropy(joint(image), label - 1),
    ]
    sum(losses).backward()
