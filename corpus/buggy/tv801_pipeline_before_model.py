import torch
import torch.nn as nn


class Solver:
    def __init__(self, model, device):
        self.device = device
        self.pipeline = self.build()
        self.model = model.to(device)

    def build(self):
        return nn.Sequential(self.model, nn.Softmax(dim=1))  # error: TV801


Solver(nn.Linear(3, 2), torch.device("cpu"))
