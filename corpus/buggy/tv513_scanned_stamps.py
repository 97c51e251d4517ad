"""A detector of stamps: each scan shows one stamp near the corner of the glass."""
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

torch.manual_seed(0)


def scans(count):
    """Dark images with bright rectangles, and what was measured on each: left, top, width, height, country."""
    found = []
    for _ in range(count):
        left, top = torch.randint(2, 10, (2,)).tolist()
        width, height = torch.randint(24, 48, (2,)).tolist()
        image = 0.1 * torch.rand(3, 64, 64)
        image[:, top:top + height, left:left + width] += 0.8
        found.append((image, [(left, top, width, height, 1 + width % 2)]))
    return found


class Stamps(Dataset):
    def __init__(self, samples, brightness=0.0):
        self.samples = samples
        self.brightness = brightness

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        image, measured = self.samples[index]
        boxes, labels, areas = [], [], []
        for left, top, width, height, country in measured:
            boxes.append([left, top, width, height])  # warning: TV513
            areas.append(width * height)
            labels.append(country)
        target = {
            "boxes": torch.tensor(boxes, dtype=torch.float32),
            "labels": torch.tensor(labels, dtype=torch.int64),
            "area": torch.tensor(areas, dtype=torch.float32),
            "iscrowd": torch.zeros(len(labels), dtype=torch.int64),
        }
        return (image + self.brightness).clamp(0, 1), target


def collate(batch):
    images, targets = zip(*batch)
    return list(images), list(targets)


def train_one_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for images, targets in loader:
        losses = model(images, targets)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    loader = DataLoader(Stamps(scans(6), brightness=0.05), batch_size=2, shuffle=True, collate_fn=collate)
    model = fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=3, min_size=96, max_size=96
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for epoch in range(2):
        print(epoch, train_one_epoch(model, loader, optimizer))

    model.eval()
    with torch.no_grad():
        [prediction] = model([scans(1)[0][0]])
    print(len(prediction["boxes"]), "stamps")


if __name__ == "__main__":
    main()
