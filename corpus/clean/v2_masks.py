"""torchvision v2 transforms know that a Mask is not an image."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2

transform = v2.Compose([
    v2.Resize((40, 40), antialias=True),
    v2.RandomCrop(32),
    v2.RandomHorizontalFlip(0.5),
    v2.ToDtype({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}, scale=True),
    v2.Normalize([0.5, 0.5, 0.5], [0.25, 0.25, 0.25]),
])


class Shapes(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        image = tv_tensors.Image(torch.randint(0, 256, (3, 64, 64), dtype=torch.uint8))
        mask = torch.zeros(64, 64, dtype=torch.uint8)
        mask[10:40, 10:40] = i % 3
        image, mask = transform(image, tv_tensors.Mask(mask))
        return image, mask


net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
optimizer = torch.optim.Adam(net.parameters())
for image, mask in DataLoader(Shapes(), batch_size=4):
    loss = F.cross_entropy(net(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
