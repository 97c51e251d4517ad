import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)

num_classes = 10
images = torch.rand(200, 1, 16, 16)
labels = torch.randint(0, num_classes, (200,))
targets = labels

train_dl = DataLoader(TensorDataset(images, targets), batch_size=20, shuffle=True)


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(6 * 6 * 6, num_classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv(x)))
        x = x.view(x.size(0), -1)
        return self.fc(x)


def fit(epochs, model, loss_func, opt, train_dl):
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            pred = model(xb)
            loss = loss_func(pred, yb)
            loss.backward()
            opt.step()
            opt.zero_grad()
        print(epoch, loss.item())


model = DigitNet()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
fit(2, model, F.cross_entropy, opt, train_dl)
