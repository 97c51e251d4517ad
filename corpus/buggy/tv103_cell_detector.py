"""Finetune a torchvision detector on three kinds of cells (synthetic boxes)."""
import torch
import torchvision
from torch.utils.data import DataLoader, Dataset
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

CLASSES = ["round", "spindle", "stellate"]


class CellDataset(Dataset):
    def __init__(self, n=2):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        image = torch.rand(3, 96, 96)
        boxes = torch.tensor([[8.0, 8.0, 40.0, 40.0], [30.0, 20.0, 70.0, 60.0], [50.0, 50.0, 90.0, 92.0]])
        # 0 is the background
        labels = torch.tensor([1, 2, 3], dtype=torch.int64)
        return image, {"boxes": boxes, "labels": labels}


def collate(batch):
    return tuple(zip(*batch))


def build_model():
    return fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None,
        weights_backbone=None,
        num_classes=len(CLASSES),
        min_size=96,
        max_size=96,
    )


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build_model().to(device)
    loader = DataLoader(CellDataset(), batch_size=2, shuffle=True, collate_fn=collate)
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(params, lr=0.005, momentum=0.9)

    model.train()
    for images, targets in loader:
        images = [img.to(device) for img in images]
        targets = [{k: v.to(device) for k, v in t.items()} for t in targets]
        loss_dict = model(images, targets)  # error: TV103
        losses = sum(loss for loss in loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        print({k: round(v.item(), 3) for k, v in loss_dict.items()})


if __name__ == "__main__":
    main()
