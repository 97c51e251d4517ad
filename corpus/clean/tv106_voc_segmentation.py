# needs: data
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision.datasets import VOCSegmentation
from torchvision.models.segmentation import fcn_resnet50
from torchvision.transforms import functional as TF
from torchvision.transforms import InterpolationMode

SIZE = (256, 256)


def joint_transform(image, target):
    image = TF.resize(image, SIZE)
    target = TF.resize(target, SIZE, interpolation=InterpolationMode.NEAREST)
    image = TF.normalize(TF.to_tensor(image), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    target = torch.from_numpy(np.array(target)).long()
    return image, target


def train(model, loader, optimizer, device):
    model.train()
    for step, (images, masks) in enumerate(loader):
        images, masks = images.to(device), masks.to(device)
        out = model(images)["out"]
        loss = F.cross_entropy(out, masks, ignore_index=255)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(step, loss.item())


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = VOCSegmentation("data", year="2012", image_set="train", download=True, transforms=joint_transform)
    loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=4, drop_last=True)
    model = fcn_resnet50(weights=None, num_classes=21).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(5):
        train(model, loader, optimizer, device)


if __name__ == "__main__":
    main()
