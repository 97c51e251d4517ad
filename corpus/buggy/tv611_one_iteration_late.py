"""Gradients that are clipped at the start of an iteration, after the step of the one before."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(6, 3)
optimizer = torch.optim.AdamW(net.parameters())
optimizer.zero_grad()
for i in range(4):
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # error: TV611
    F.cross_entropy(net(torch.randn(8, 6)), torch.arange(8) % 3).backward()  # error: TV601
    optimizer.step()
