# needs: cuda
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet18


class XRays(Dataset):
    findings = ["normal", "pneumonia", "covid"]

    def __init__(self, n=12):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.rand(3, 64, 64), i % len(self.findings)


class Experiment:
    def __init__(self, lr=1e-4):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = resnet18(num_classes=3).to(self.device)
        self.criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.2, 1.0, 3.0]))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.loader = DataLoader(XRays(), batch_size=6, shuffle=True)

    def run_epoch(self):
        self.model.train()
        for image, finding in self.loader:
            image = image.to(self.device)
            finding = finding.to(self.device)
            logits = self.model(image)
            loss = self.criterion(logits, finding)  # error: TV301
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    experiment = Experiment()
    for epoch in range(2):
        print(epoch, experiment.run_epoch())
