import numpy as np
import torch
import torch.nn as nn
from PIL import Image, ImageDraw
from torch.utils.data import DataLoader, Dataset


def paint_sample(seed, size=48):
    """A grey image and a black and white road mask, as our labelling tool exports them."""
    rng = np.random.default_rng(seed)
    image = rng.random((size, size)).astype(np.float32)
    mask = Image.new("L", (size, size), 0)
    draw = ImageDraw.Draw(mask)
    draw.rectangle([10, 0, 30, size], fill=255)
    return image, mask


class Roads(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image, mask = paint_sample(i)
        image = torch.from_numpy(image).unsqueeze(0)
        mask = torch.from_numpy(np.array(mask)).long()
        return image, mask


model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8, 2, 1),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for image, mask in DataLoader(Roads(8), batch_size=4):
    out = model(image)
    loss = criterion(out, mask)  # error: TV503
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
