import torch
from torch.utils.data import DataLoader, Subset, random_split
from torchvision import transforms
from torchvision.datasets import FakeData

augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
plain = transforms.ToTensor()

data = FakeData(100, image_size=(3, 16, 16), transform=augment)
train, val = random_split(data, [80, 20], generator=torch.Generator().manual_seed(0))
val = Subset(FakeData(100, image_size=(3, 16, 16)), val.indices)
val.dataset.transform = plain

for loader in [DataLoader(train, 10), DataLoader(val, 10)]:
    images, labels = next(iter(loader))
    print(images.shape, labels.shape)
