import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SensorWindows(Dataset):
    def __init__(self, n_windows=64, window=100, channels=6):
        rng = np.random.default_rng(11)
        self.windows = rng.standard_normal((n_windows, channels, window)).astype(np.float32)
        self.activity = rng.integers(0, 6, size=n_windows).astype(np.int64)

    def __getitem__(self, item):
        return torch.from_numpy(self.windows[item]), self.activity[item]

    def __len__(self):
        return self.windows.shape[0]


class ConvNet1d(nn.Module):
    def __init__(self, channels=6, n_activities=6):
        super().__init__()
        self.conv1 = nn.Conv1d(channels, 16, kernel_size=7, padding=3)
        self.conv2 = nn.Conv1d(16, 32, kernel_size=7, padding=3)
        self.pool = nn.AdaptiveMaxPool1d(1)
        self.fc = nn.Linear(32, n_activities)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.fc(self.pool(x).squeeze(-1))


def train(model, loader, epochs, device):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model.to(device)
    for epoch in range(epochs):
        for window, activity in loader:
            window, activity = window.to(device), activity.to(device)
            optimizer.zero_grad()
            scores = model(window)
            loss = criterion(scores, activity)
            loss.backward()
            optimizer.step()
        print("Epoch:", epoch, "Loss:", loss.item())


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train(ConvNet1d(), DataLoader(SensorWindows(), batch_size=16, shuffle=True), 2, device)
