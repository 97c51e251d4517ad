import torch.nn.functional as F


def train(model, loader, optimizer, epochs):
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            loss.backward()  # warning: TV601
            optimizer.step()


class Trainer:
    def __init__(self, model, optimizer, scaler):
        self.model = model
        self.optimizer = optimizer
        self.scaler = scaler

    def run(self, loader):
        for x, y in loader:
            loss = self.model(x, y)
            self.scaler.scale(loss).backward()  # warning: TV601
            self.scaler.step(self.optimizer)
            self.scaler.update()
