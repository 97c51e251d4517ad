"""Quick smoke test of the training loop with fake street images."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CITY_CLASSES = 19


def load_label(seed, h=64, w=128):
    rng = np.random.default_rng(seed)
    return rng.integers(0, CITY_CLASSES, size=(h, w), dtype=np.uint8)


def load_image(seed, h=64, w=128):
    rng = np.random.default_rng(seed)
    img = rng.integers(0, 256, size=(h, w, 3), dtype=np.uint8)
    return img.astype(np.float32) / 255.0


def make_batch(seeds):
    images = np.stack([load_image(s) for s in seeds]).transpose(0, 3, 1, 2)
    labels = np.stack([load_label(s) for s in seeds])
    return torch.from_numpy(images), torch.from_numpy(labels)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)

    def forward(self, x):
        return F.relu(self.c2(F.relu(self.c1(x))))


class Segmenter(nn.Module):
    def __init__(self, classes=CITY_CLASSES):
        super().__init__()
        self.backbone = Backbone()
        self.classifier = nn.Conv2d(32, classes, 1)

    def forward(self, x):
        size = x.shape[-2:]
        x = self.classifier(self.backbone(x))
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = Segmenter().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, weight_decay=1e-4)

for step in range(3):
    x, y = make_batch([2 * step, 2 * step + 1])
    x, y = x.to(device), y.to(device)
    logits = model(x)
    loss = F.cross_entropy(logits, y)  # error: TV105
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: {loss.item():.3f}")
