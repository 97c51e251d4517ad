import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class PoseDataset(Dataset):
    def __init__(self, n=32):
        self.frames = torch.rand(n, 3, 32, 32)
        self.joints = torch.rand(n, 17 * 2)

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        frame = self.frames[index]
        joints = self.joints[index]
        return frame, joints


class PoseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.fc = nn.Linear(8 * 15 * 15, 34)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


def main():
    loader = DataLoader(PoseDataset(), batch_size=8, shuffle=True, num_workers=2)
    model = PoseNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for frames, joints in loader:
        frames, joints = frames.to(device), joints.to(device)
        loss = nn.functional.mse_loss(model(frames), joints)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
