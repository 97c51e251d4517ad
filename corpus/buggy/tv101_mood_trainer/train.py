import torch
from torch import nn, optim
from torch.utils.data import DataLoader

import settings
from audio import MoodClips
from network import MoodNet


class Trainer:
    def __init__(self, net, dataset, device):
        self.net = net.to(device)
        self.device = device
        self.loader = DataLoader(dataset, batch_size=settings.BATCH, shuffle=True)
        self.loss_fn = nn.CrossEntropyLoss()
        self.optim = optim.Adam(self.net.parameters(), lr=settings.LEARNING_RATE)
        self.history = []

    def step(self, spec, mood):
        spec, mood = spec.to(self.device), mood.to(self.device)
        self.optim.zero_grad()
        prediction = self.net(spec)
        loss = self.loss_fn(prediction, mood)  # error: TV101
        loss.backward()
        self.optim.step()
        return loss.item()

    def train(self, epochs):
        for epoch in range(epochs):
            self.net.train()
            losses = [self.step(spec, mood) for spec, mood in self.loader]
            self.history.append(sum(losses) / len(losses))
            print(f"[{epoch + 1}/{epochs}] {self.history[-1]:.4f}")


if __name__ == "__main__":
    device = torch.device(settings.DEVICE_NAME if torch.cuda.is_available() else "cpu")
    trainer = Trainer(MoodNet(), MoodClips(), device)
    trainer.train(epochs=2)
