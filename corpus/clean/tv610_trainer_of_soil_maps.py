"""Trainers with an evaluation at the end of each epoch."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def make_loader(count):
    data = TensorDataset(torch.randn(count, 6), torch.randint(0, 3, (count,)))
    return DataLoader(data, batch_size=8, shuffle=True)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.train_loader, self.test_loader = make_loader(32), make_loader(16)

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(x), y)
                loss.backward()
                self.optimizer.step()
            print(epoch, self.evaluate())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        correct = 0
        for x, y in self.test_loader:
            correct += (self.model(x).argmax(dim=1) == y).sum().item()
        return correct / len(self.test_loader.dataset)


class Restoring(Trainer):
    def fit(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(x), y)
                loss.backward()
                self.optimizer.step()
            print(epoch, self.score())

    def score(self):
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            result = sum(F.cross_entropy(self.model(x), y).item() for x, y in self.test_loader)
        self.model.train(was_training)
        return result


class Once(Trainer):
    def search(self, epochs):
        # After the evaluation, the loop ends.
        self.model.train()
        for epoch in range(epochs):
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(x), y)
                loss.backward()
                self.optimizer.step()
            if epoch + 1 == epochs:
                print(self.report())
                break

    def report(self):
        self.model.eval()
        with torch.no_grad():
            return sum(F.cross_entropy(self.model(x), y).item() for x, y in self.test_loader)


def run(factory, epochs=3):
    Restoring(factory()).fit(epochs)
    Once(factory()).search(epochs)
    trainer = Trainer(factory())
    trainer.fit(epochs)
    return trainer
