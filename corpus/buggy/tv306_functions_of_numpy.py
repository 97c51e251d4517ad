# needs: cuda, sklearn
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import accuracy_score

torch.manual_seed(0)
model = nn.Linear(4, 2).cuda()


def of_one():
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return np.isinf(norm)  # error: TV306


def of_many():
    losses = []
    for _ in range(10):
        losses.append(model(torch.randn(8, 4).cuda()).mean().detach())
    return np.mean(losses)  # error: TV306


def scored():
    predicted = model(torch.randn(8, 4).cuda()).argmax(dim=1)
    return accuracy_score(np.ones(8), predicted)  # error: TV306


def as_number():
    return np.float32(model.weight.detach())  # error: TV306


for check in (of_one, of_many, scored, as_number):
    try:
        print(check())
    except TypeError as error:
        print(check.__name__, error)
as_number()
