"""Car parts segmentation; images and label maps are painted on the fly."""
import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

PARTS = 5


class CarParts(Dataset):
    def __init__(self, n=8, size=(32, 32)):
        self.n = n
        self.image_tf = transforms.Compose([transforms.Resize(size), transforms.ToTensor()])
        self.mask_resize = transforms.Resize(size)

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        rng = np.random.default_rng(idx)
        image = Image.fromarray(rng.integers(0, 256, (80, 120, 3), dtype=np.uint8))
        mask = Image.fromarray(rng.integers(0, PARTS, (80, 120), dtype=np.uint8))
        image = self.image_tf(image)
        mask = self.mask_resize(mask)  # error: TV501
        mask = torch.from_numpy(np.array(mask)).long()
        return image, mask


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(CarParts(), batch_size=4, shuffle=True)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, PARTS, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        for image, mask in loader:
            image, mask = image.to(device), mask.to(device)
            loss = criterion(model(image), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
