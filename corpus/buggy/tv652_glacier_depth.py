import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 16


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.MSELoss().to("cpu")
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def run(self, loader, epochs):
        for epoch in range(epochs):
            running_loss = 0.0
            for index, (x, y) in enumerate(loader):
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                running_loss += loss.detach().cpu().item()
            epoch_loss = running_loss / len(loader.dataset)  # info: TV652
            print(f"epoch {epoch}: {epoch_loss:.5f}")


def evaluate(model, test_loader):
    model.eval()
    test_loss, batches = 0.0, 0
    with torch.no_grad():
        for x, y in test_loader:
            test_loss += F.mse_loss(model(x), y).item()
            batches += 1
    test_loss /= len(test_loader.dataset)  # info: TV652
    return test_loss


def compare(model, loader):
    criterion = nn.L1Loss()
    total = 0
    for x, y in loader:
        with torch.no_grad():
            loss = criterion(model(x), y)
        total = total + float(loss)
    return total / (len(loader) * BATCH_SIZE)  # info: TV652


torch.manual_seed(0)
depths = TensorDataset(torch.randn(64, 5), torch.randn(64, 1))
network = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
batches = DataLoader(depths, batch_size=BATCH_SIZE, shuffle=True)
Trainer(network).run(batches, 2)
print(evaluate(network, batches), compare(network, batches))
