import torch
from torch.utils.data import DataLoader, Subset, random_split
from torchvision import transforms
from torchvision.datasets import FakeData

augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
plain = transforms.ToTensor()

# Two datasets over the same images, and one split of the indices.
data = FakeData(100, image_size=(3, 16, 16), transform=augment)
train, val = random_split(data, [80, 20], generator=torch.Generator().manual_seed(0))
val = Subset(FakeData(100, image_size=(3, 16, 16), transform=plain), val.indices)

# The transform of the shared dataset is changed between the passes.
shared = FakeData(100, image_size=(3, 16, 16), transform=augment)
first, second = random_split(shared, [80, 20])
for epoch in range(2):
    first.dataset.transform = augment
    for images, labels in DataLoader(first, 10):
        print(images.mean().item())
    second.dataset.transform = plain
    for images, labels in DataLoader(second, 10):
        print(images.mean().item())

for loader in [DataLoader(train, 10), DataLoader(val, 10)]:
    images, labels = next(iter(loader))
    print(images.shape, labels.shape)
