# needs: data
"""Land use from drone pictures; raw label ids are renamed, all others are void."""
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torchvision.transforms.functional as TF
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T
from torchvision.transforms import InterpolationMode

RENAMED = {0: 0, 7: 1, 8: 2, 11: 3}
VOID = 255


class LandUse(Dataset):
    def __init__(self, root, size=128):
        self.root, self.size = Path(root), size
        self.names = sorted(path.stem for path in (self.root / "pictures").glob("*.png"))

    def __len__(self):
        return len(self.names)

    def encode(self, raw):
        ids = np.full(raw.shape, VOID, dtype=np.uint8)
        for before, after in RENAMED.items():
            ids[raw == before] = after
        return ids

    def __getitem__(self, index):
        name = f"{self.names[index]}.png"
        image = Image.open(self.root / "pictures" / name).convert("RGB")
        mask = Image.fromarray(self.encode(np.array(Image.open(self.root / "labels" / name))))
        top, left, height, width = T.RandomResizedCrop.get_params(image, (0.5, 1.0), (0.75, 1.33))
        image = TF.resized_crop(image, top, left, height, width, [self.size] * 2, InterpolationMode.BILINEAR)
        mask = TF.resized_crop(mask, top, left, height, width, [self.size] * 2)  # error: TV501
        if random.random() < 0.5:
            image, mask = TF.hflip(image), TF.hflip(mask)
        return TF.to_tensor(image), torch.from_numpy(np.array(mask)).long()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, len(RENAMED), 1)).to(device)
    criterion = nn.CrossEntropyLoss(ignore_index=VOID)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for images, masks in DataLoader(LandUse("land"), batch_size=8, shuffle=True):
        loss = criterion(model(images.to(device)), masks.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
