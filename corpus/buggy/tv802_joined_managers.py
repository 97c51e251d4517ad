import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)


class Decoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()  # error: TV802
        self.layer = nn.Linear(3, 3)


def decode(model, x):
    with torch.autograd.set_detect_anomaly(False) and torch.no_grad():  # warning: TV802
        return model(x)


decode(nn.Linear(3, 3), torch.zeros(3))
Decoder()
