from abc import ABC, abstractmethod

import torch


class Trainer(ABC):
    def __init__(self, steps):
        self.steps = steps

    @abstractmethod
    def step(self, batch): ...

    def fit(self):
        for _ in range(self.steps):
            self.step(torch.randn(4, 8))


class Regression(Trainer):
    def __init__(self, steps):
        super().__init__(steps)
        self.model = torch.nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, batch):
        loss = self.model(batch).square().mean()
        self.optimiser.zero_grad()  # error: TV801
        loss.backward()
        self.optimizer.step()


class Scheduled:
    def __init__(self, steps=3):
        self.steps = steps

    def fit(self):
        for step in range(self.steps):
            self.rate = self.get_rate(step)  # error: TV801
            self.validate()

    def validate(self):
        pass

    def _get_rate(self, step):
        return 0.1 * (step + 1) / self.steps


Regression(3).fit()
