import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCNN(nn.Module):
    def __init__(self, vocab_size, n_intents, dim=32, widths=(2, 3, 4), channels=16):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim)
        self.convs = nn.ModuleList([nn.Conv1d(dim, channels, w) for w in widths])
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(channels * len(widths), n_intents)

    def forward(self, x):
        e = self.embedding(x).permute(0, 2, 1)
        pooled = [F.relu(conv(e)).max(dim=2).values for conv in self.convs]
        logits = self.fc(self.dropout(torch.cat(pooled, dim=1)))
        return F.softmax(logits, dim=-1)
