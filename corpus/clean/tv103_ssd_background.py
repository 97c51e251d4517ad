"""Match anchors to boxes, SSD style: class 0 is the background."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LABEL_MAP = {"background": 0, "mask": 1, "no_mask": 2}


class Faces(Dataset):
    def __init__(self, objects):
        self.objects = objects

    def __len__(self):
        return len(self.objects)

    def __getitem__(self, i):
        names = self.objects[i]
        labels = torch.tensor([LABEL_MAP[name] for name in names], dtype=torch.long)
        return torch.rand(3, 32, 32), labels


class Head(nn.Module):
    def __init__(self, n_classes, anchors=2):
        super().__init__()
        self.n_classes = n_classes
        self.anchors = anchors
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.scores = nn.Linear(8, anchors * n_classes)

    def forward(self, images):
        return self.scores(self.body(images)).view(images.size(0), self.anchors, self.n_classes)


class MultiBoxLoss(nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha
        self.cross_entropy = nn.CrossEntropyLoss(reduction="none")

    def forward(self, predicted_scores, true_classes):
        n_classes = predicted_scores.size(2)
        conf = self.cross_entropy(predicted_scores.view(-1, n_classes), true_classes.view(-1))
        return self.alpha * conf.mean()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = Faces([["mask", "no_mask"], ["no_mask", "background"], ["mask", "mask"], ["background", "no_mask"]])
    loader = DataLoader(data, batch_size=2, shuffle=True)
    model = Head(n_classes=len(LABEL_MAP)).to(device)
    criterion = MultiBoxLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
