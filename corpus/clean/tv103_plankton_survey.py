"""Classify plankton thumbnails; the taxa are listed once, the width of the head in the config."""
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

TAXA = ["copepod", "diatom", "krill", "medusa", "radiolarian", "salp", "detritus"]


@dataclass
class Config:
    num_classes: int = len(TAXA)
    width: int = 16
    lr: float = 1e-3
    batch_size: int = 4
    taxa: list = field(default_factory=lambda: list(TAXA))


class Plankton(Dataset):
    def __init__(self, names, taxa, seed=0):
        self.class_to_idx = {name: i for i, name in enumerate(taxa)}
        self.labels = [self.class_to_idx[name] for name in names]
        self.rng = np.random.default_rng(seed)
        self.images = self.rng.integers(0, 256, size=(len(names), 32, 32), dtype=np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index]).float().div(255).unsqueeze(0)
        return image, self.labels[index]


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, cfg.width, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.classifier = nn.Linear(cfg.width, cfg.num_classes)

    def forward(self, x):
        return self.classifier(self.features(x))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Net(cfg).to(self.device)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)

    def step(self, batch):
        images, labels = (part.to(self.device, non_blocking=True) for part in batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.criterion(self.model(images), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, loader, epochs=2):
        for epoch in range(epochs):
            losses = [self.step(batch) for batch in loader]
            print(f"epoch {epoch}: {sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    config = Config()
    sample = ["krill", "salp", "diatom", "detritus", "copepod", "medusa", "radiolarian", "detritus"]
    data = Plankton(sample, config.taxa)
    Trainer(config).fit(DataLoader(data, batch_size=config.batch_size, shuffle=True))
