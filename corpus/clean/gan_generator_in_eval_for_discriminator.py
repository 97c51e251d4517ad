# The generator is in evaluation mode for the step of the discriminator, in every iteration.
import torch
from torch import nn, optim


def main():
    gen = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
    dis = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1), nn.Sigmoid())
    gen_optim = optim.Adam(gen.parameters())
    dis_optim = optim.SGD(dis.parameters(), lr=0.1)
    criterion = nn.BCELoss()
    for epoch in range(3):
        for i in range(10):
            x = torch.randn(8, 4)
            gen.eval()
            gen_optim.zero_grad()
            dis_optim.zero_grad()
            loss = criterion(dis(gen(x)), torch.zeros(8, 1))
            loss.backward()
            dis_optim.step()

            gen.train()
            gen_optim.zero_grad()
            total = criterion(dis(gen(x)), torch.ones(8, 1))
            total.backward()
            gen_optim.step()
    gen.eval()


main()
