import torch
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Trainer:
    def __init__(self, model, criterion, optimizer, device):
        self.model = model
        self.criterion = criterion
        self.optimizer = optimizer
        self.device = device

    def train(self, loader):
        self.model.train()
        for images, labels in loader:
            images = images.to(self.device)
            scores = self.model(images)
            loss = self.criterion(scores, labels)  # warning: TV301
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def predict(self, images):
        self.model.eval()
        scores, features = self.model(images.to(self.device))
        return scores.argmax(dim=1).numpy(), features.cpu().numpy()  # warning: TV306


def augment(images, device):
    noise = torch.randn(8, 3)
    return torch.cat([images.to(device), noise])  # warning: TV301


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for i, batch in enumerate(loader):
            x, y = batch["image"], batch["label"]
            loss = F.cross_entropy(model(x.to(device)), y)  # warning: TV301
            print(i, loss.item())
