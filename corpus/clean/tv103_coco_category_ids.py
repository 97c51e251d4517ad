"""Classify the crops of a COCO-style annotation file."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

COCO = {
    "categories": [
        {"id": 1, "name": "person"},
        {"id": 3, "name": "car"},
        {"id": 17, "name": "cat"},
        {"id": 18, "name": "dog"},
    ],
    "annotations": [
        {"image_id": 0, "category_id": 18, "bbox": [2, 2, 12, 10]},
        {"image_id": 0, "category_id": 1, "bbox": [20, 6, 8, 24]},
        {"image_id": 1, "category_id": 3, "bbox": [4, 9, 24, 12]},
        {"image_id": 2, "category_id": 17, "bbox": [9, 9, 9, 9]},
    ],
}


class Crops(Dataset):
    def __init__(self, coco, size=16):
        self.annotations = coco["annotations"]
        self.ids = sorted(category["id"] for category in coco["categories"])
        self.contiguous = {category: i for i, category in enumerate(self.ids)}
        self.size = size

    def __len__(self):
        return len(self.annotations)

    def __getitem__(self, i):
        ann = self.annotations[i]
        image = torch.rand(3, 64, 64)
        x, y, w, h = ann["bbox"]
        crop = image[:, y : y + h, x : x + w]
        crop = nn.functional.interpolate(crop[None], size=(self.size, self.size), mode="bilinear")[0]
        return crop, torch.tensor(self.contiguous[ann["category_id"]])


device = "cuda" if torch.cuda.is_available() else "cpu"
dataset = Crops(COCO)
num_classes = len(COCO["categories"])
net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 64), nn.ReLU(), nn.Linear(64, num_classes)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for crops, labels in DataLoader(dataset, batch_size=2, shuffle=True):
    out = net(crops.to(device))
    loss = nn.functional.cross_entropy(out, labels.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
