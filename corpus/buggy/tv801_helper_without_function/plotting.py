import torch


class LinePlotter:
    def __init__(self, title):
        self.title = title
        self.values = []

    def add(self, value):
        self.values.append(float(value))


def smooth(values, weight=0.9):
    return torch.tensor(values).mul(weight).tolist()
