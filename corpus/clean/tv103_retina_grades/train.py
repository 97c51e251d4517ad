"""Grade retina images; the settings lie in settings.json beside this script."""
import argparse
import json
from pathlib import Path

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

HERE = Path(__file__).resolve().parent


def get_settings():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default="settings.json")
    args = parser.parse_args([])
    with open(HERE / args.settings) as file:
        return json.load(file)


class RetinaDataset(Dataset):
    def __init__(self, settings):
        self.grades = settings["grades"]
        self.size = settings["data"]["image_size"]

    def __len__(self):
        return 20

    def __getitem__(self, index):
        image = torch.rand(3, self.size, self.size)
        return image, index % len(self.grades)


class GradeNet(nn.Module):
    def __init__(self, width, num_grades, dropout=0.0):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(width, num_grades)

    def forward(self, x):
        return self.fc(self.dropout(self.features(x)))


def main():
    settings = get_settings()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(RetinaDataset(settings), batch_size=settings["data"]["batch_size"], shuffle=True)
    model = GradeNet(**settings["model"]).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings["optim"]["lr"])
    for epoch in range(settings["optim"]["epochs"]):
        total, seen = 0, 0
        for images, grades in loader:
            images, grades = images.to(device), grades.to(device)
            loss = criterion(model(images), grades)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(grades)
            seen += len(grades)
        print(f"epoch {epoch}: {total / seen:.3f}")


if __name__ == "__main__":
    main()
