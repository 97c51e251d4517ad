"""What goes over the samples of a batch on purpose, and batches that were turned before."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pairs = TensorDataset(torch.randn(48, 10, 8), torch.randn(48, 10, 8), torch.rand(48))
lstm = nn.LSTM(8, 16)
attend = nn.MultiheadAttention(8, 2)
layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
score = nn.Linear(8, 1)

for left, right, loss in DataLoader(pairs, batch_size=6, shuffle=True):
    # The layers expect the steps first.
    out, (h, _) = lstm(left.transpose(0, 1))
    turned = left.permute(1, 0, 2)
    context, _ = attend(turned, turned, turned)
    encoded = layer(context)
    # A softmax over pairs of samples, over samples, and over steps.
    a, b = F.normalize(left.mean(1), dim=1), F.normalize(right.mean(1), dim=1)
    both = F.softmax(a @ b.T / 0.1, dim=0) * F.softmax(a @ b.T / 0.1, dim=1)
    hard = (F.softmax(loss, dim=0) * loss).sum()
    column = torch.softmax(score(left.mean(1)), dim=0)
    shares = torch.softmax(score(left).squeeze(-1).t(), dim=0)
    # A single sample has shape [steps, features].
    single, _ = lstm(left[0])
    print(out.shape, h[-1].shape, encoded.shape, both.sum().item(), hard.item(), column.shape, shares.sum().item(), single.shape)
