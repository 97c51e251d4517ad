# needs: data
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import VOCSegmentation
from torchvision.models.segmentation import deeplabv3_resnet50
from torchvision.transforms import InterpolationMode

image_transform = transforms.Compose([
    transforms.Resize((224, 224), interpolation=InterpolationMode.NEAREST),
    transforms.ToTensor(),
])
mask_transform = transforms.Compose([
    transforms.Resize((224, 224), interpolation=InterpolationMode.NEAREST),
    transforms.PILToTensor(),
])

train_set = VOCSegmentation(
    "./VOC",
    year="2012",
    image_set="train",
    download=True,
    transform=image_transform,
    target_transform=mask_transform,
)
loader = DataLoader(train_set, batch_size=8, shuffle=True, drop_last=True)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = deeplabv3_resnet50(weights=None, num_classes=21).to(device)
criterion = nn.CrossEntropyLoss(ignore_index=255)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

for epoch in range(3):
    for image, mask in loader:
        image = image.to(device)
        mask = mask.squeeze(1).long().to(device)
        logits = model(image)["out"]
        loss = criterion(logits, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
