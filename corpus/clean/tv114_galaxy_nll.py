import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

SHAPES = {"spiral": 0, "elliptical": 1, "irregular": 2}


class GalaxyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 8 * 8, len(SHAPES))

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = x.reshape(x.shape[0], -1)
        return F.log_softmax(self.fc(x), dim=1)


def main(epochs=2, batch_size=12):
    data = TensorDataset(torch.rand(60, 3, 32, 32), torch.arange(60) % 3)
    model = GalaxyNet()
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for image, shape in DataLoader(data, batch_size=batch_size, shuffle=True):
            out = model(image)
            loss = F.nll_loss(out, shape)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
