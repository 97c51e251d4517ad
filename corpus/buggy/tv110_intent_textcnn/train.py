import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from model import TextCNN

VOCAB, INTENTS, LENGTH = 300, 7, 12


def loaders():
    g = torch.Generator().manual_seed(0)
    x = torch.randint(0, VOCAB, (140, LENGTH), generator=g)
    y = torch.arange(140) % INTENTS
    ds = TensorDataset(x, y)
    return DataLoader(ds, batch_size=20, shuffle=True)


def accuracy(output, target):
    return (output.argmax(dim=1) == target).float().mean().item()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TextCNN(VOCAB, INTENTS).to(device)
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for x, y in loaders():
            x, y = x.to(device), y.to(device)
            output = model(x)
            loss = criterion(output, y)  # error: TV110
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item(), accuracy(output, y))
