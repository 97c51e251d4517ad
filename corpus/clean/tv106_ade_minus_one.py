"""Scene parsing: the labels are 1 to 150, and 0 is what nobody annotated."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    NUM_CLASS = 150
    IGNORE = -1

    def __init__(self, count=4):
        rng = np.random.default_rng(7)
        self.samples = [
            (rng.random((3, 24, 24)), rng.integers(0, self.NUM_CLASS + 1, (24, 24), dtype=np.uint8))
            for _ in range(count)
        ]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        image, target = self.samples[index]
        return torch.as_tensor(image, dtype=torch.float32), self._mask_transform(target)

    def _mask_transform(self, mask):
        target = np.array(mask).astype("int64") - 1
        return torch.from_numpy(target)


class SegmentationLoss(nn.CrossEntropyLoss):
    def __init__(self, aux_weight=0.4, ignore_index=-1):
        super().__init__(ignore_index=ignore_index)
        self.aux_weight = aux_weight

    def forward(self, preds, target):
        pred1, pred2 = preds
        loss1 = super().forward(pred1, target)
        loss2 = super().forward(pred2, target)
        return loss1 + self.aux_weight * loss2


class PSP(nn.Module):
    def __init__(self, nclass):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 3, padding=1)
        self.head = nn.Conv2d(12, nclass, 1)
        self.aux = nn.Conv2d(12, nclass, 1)

    def forward(self, x):
        size = x.shape[2:]
        x = F.relu(self.stem(F.max_pool2d(x, 2)))
        up = lambda y: F.interpolate(y, size, mode="bilinear", align_corners=True)
        return up(self.head(x)), up(self.aux(x))


def train():
    data = Scenes()
    model = PSP(data.NUM_CLASS)
    criterion = SegmentationLoss(ignore_index=data.IGNORE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for image, target in DataLoader(data, batch_size=2):
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train()
