import torch
import torch.nn as nn


class ToxicLSTM(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_size, n_labels):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        self.lstm = nn.LSTM(embed_dim, hidden_size, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(hidden_size, n_labels)

    def forward(self, ids):
        emb = self.embedding(ids)
        seq, _ = self.lstm(emb)
        avg = seq.mean(dim=1)
        return self.out(self.drop(avg))  # error: TV401
