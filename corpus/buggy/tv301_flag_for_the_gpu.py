import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, use_gpu):
        self.model = model
        self.use_gpu = use_gpu
        self.criterion = nn.CrossEntropyLoss()
        if self.use_gpu:
            self.model = self.model.cuda()

    def train(self, loader):
        self.model.train()
        for images, labels in loader:
            if self.use_gpu:
                images = images.cuda()
            loss = self.criterion(self.model(images), labels)  # warning: TV301
            loss.backward()


def noise(images, args):
    shift = torch.randn(4, 3)
    if args.cuda and torch.cuda.is_available():
        images = images.cuda()
    return torch.cat([images, shift])  # warning: TV301


def fit(use_cuda):
    layer = nn.Linear(3, 4)
    if use_cuda:
        layer = layer.cuda()
    return layer(torch.randn(2, 3))  # warning: TV301


def histogram(values, gpu):
    if gpu is not None:
        values = values.cuda(gpu)
    return F.softmax(values, dim=-1).numpy()  # warning: TV306
