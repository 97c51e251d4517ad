import torch
from torch.utils.data import DataLoader, random_split
from torchvision import transforms
from torchvision.datasets import FakeData

augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
plain = transforms.ToTensor()


def parts(data):
    return random_split(data, [len(data) - 20, 20], generator=torch.Generator().manual_seed(0))


train, val = parts(FakeData(100, image_size=(3, 16, 16), transform=augment))
val.transform = plain  # warning: TV508

first, second = parts(FakeData(100, image_size=(3, 16, 16)))
first.dataset.transform = augment
second.dataset.transform = plain  # warning: TV508

for loader in [DataLoader(train, 10), DataLoader(val, 10), DataLoader(first, 10), DataLoader(second, 10)]:
    images, labels = next(iter(loader))
    print(images.shape, labels.shape)
