"""Bits of device handling that one meets in real training scripts."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.LSTM(6, 12, batch_first=True)
head = nn.Linear(12, 4)
model.to(device)
head.to(device)
head.train()

scale = torch.tensor(0.5)
total = torch.zeros(())
optimizer = torch.optim.Adam(list(model.parameters()) + list(head.parameters()), lr=1e-3)

for step in range(3):
    x = torch.randn(5, 9, 6, device=device)
    lengths = torch.tensor([9, 7, 6, 3, 2])
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    out, _ = model(packed)
    out, out_lengths = pad_packed_sequence(out, batch_first=True)

    mask = torch.arange(out.size(1))[None, :] < out_lengths[:, None]
    pooled = out.masked_fill(~mask.to(device).unsqueeze(-1), 0.0).sum(1) / lengths.to(out).unsqueeze(1)
    logits = head(pooled) * scale
    target = torch.tensor([0, 3, 2, 1, 0]).to(logits.device)
    loss = F.cross_entropy(logits, target)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    total = total + loss.detach()
    order = torch.randperm(5)
    shuffled = logits[order]
    first_two = logits[[0, 1]]
    clipped = torch.where(shuffled > 0, shuffled, torch.tensor(0.0))
    noise = torch.zeros_like(first_two).normal_()
    buffer = torch.empty(5, 4)
    buffer.copy_(logits.detach())
    logits.detach()[0] = torch.zeros(4)
    print(step, loss.item(), clipped.mean().item(), (first_two + noise).sum().item(), buffer.numpy().mean())

print("mean loss", float(total) / 3)
