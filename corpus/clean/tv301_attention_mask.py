# needs: cuda
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")


class Reader(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.score = nn.Linear(width, 1)

    def forward(self, words, mask):
        out, _ = self.attention(words, words, words, attn_mask=mask)
        return self.score(out).mean()


model = Reader().to(device)
words = torch.randn(8, 20, 32, device=device)
causal = torch.triu(torch.ones(20, 20, dtype=torch.bool, device=device), diagonal=1)
spread = F.mse_loss(words.mean(), torch.tensor(0.0, device=device))
# This loss accepts a scalar on the CPU.
spread = spread + F.l1_loss(words.mean(), torch.tensor(0.0))
loss = model(words, causal) + spread
loss.backward()
