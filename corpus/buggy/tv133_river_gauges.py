"""Training of a classifier of the level of a river, with soft targets, and its evaluation."""
import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset


class Attention(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def attend(self, keys, query):
        if self.kind == "none":
            return query.clone()  # warning: TV223
        weights = torch.softmax(query @ keys.mT, dim=-1)
        return weights @ keys, weights

    def forward(self, keys, query):
        context, weights = self.attend(keys, query)
        return context


class Smoothing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def foward(self, x):  # warning: TV805
        return x * self.weight


class Gauges(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention("dot")
        self.head = torch.nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.attention(x, x)[:, -1])


def soft_cross_entropy(logits, target):
    return torch.mean(torch.sum(-target * torch.log_softmax(logits, dim=1)))  # warning: TV133


def readings(folder, split):
    generator = torch.Generator().manual_seed(len(split))
    x = torch.randn(32, 5, 6, generator=generator)
    return TensorDataset(x, torch.softmax(torch.randn(32, 3, generator=generator), dim=1))


def without_prefix(state):
    result = {}
    for key, value in state.items():
        result[key.removeprefix("module.")] = value  # warning: TV222


def accuracy(output, target, topk=(1, 5)):
    _, pred = output.topk(min(max(topk), output.size(1)), 1)
    pred = pred.t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    return [correct[:k].view(-1).float().sum() / len(target) for k in topk]  # warning: TV419


def first_batches(model, loader):
    for i, (x, y) in loader:  # warning: TV834
        print(i, model(x).shape, y.shape)


def transcribe(model, levels):
    use_gpu = torch.cuda.is_available()
    if use_gpu:
        model = model.cuda()
    return model(levels.cuda())  # warning: TV313


def mean_error(model, loader):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        total += (model(x).softmax(1) - y).abs().mean().item()
    return total / i  # warning: TV670


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gauge", default="a")  # warning: TV832
    parser.add_argument("--epochs", choices=[1, 2], default=1)  # warning: TV832
    return parser.parse_args([])


def main():
    args = options()
    train_set = readings("rivers", "val")  # warning: TV512
    val_set = readings("rivers", "test")
    if args.gauge == 3:
        train_set = val_set
    model = Gauges()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(args.epochs):
        for x, y in DataLoader(train_set, batch_size=8, shuffle=True):
            if x.shape == 2:  # warning: TV218
                x = x.unsqueeze(0)
            optimizer.zero_grad()
            soft_cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()
        print(epoch, scheduler.get_lr())  # warning: TV669
    assert without_prefix(model.state_dict()) is None
    model.eval()
    with torch.no_grad():
        print(mean_error(model, DataLoader(val_set, batch_size=8)))
        print(sum(model(x).argmax(1).eq(y.argmax(1)).sum().item() for x, y in DataLoader(val_set, batch_size=8)))


main()
