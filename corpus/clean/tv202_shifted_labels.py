"""Seq2seq: labels padded with -100 and shifted into the decoder embedding."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, DataLoader

SRC_VOCAB, TGT_VOCAB, PAD, BOS = 50, 60, 0, 1


class Pairs(Dataset):
    def __init__(self, n=32):
        g = torch.Generator().manual_seed(0)
        self.data = []
        for _ in range(n):
            ls = int(torch.randint(3, 8, (1,), generator=g))
            lt = int(torch.randint(3, 8, (1,), generator=g))
            self.data.append((torch.randint(2, SRC_VOCAB, (ls,), generator=g),
                              torch.randint(2, TGT_VOCAB, (lt,), generator=g)))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]


def collate_fn(batch):
    src, tgt = zip(*batch)
    src = pad_sequence(src, batch_first=True, padding_value=PAD)
    labels = pad_sequence(tgt, batch_first=True, padding_value=-100)
    return src, labels


class Seq2Seq(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.src_emb = nn.Embedding(SRC_VOCAB, d, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(TGT_VOCAB, d, padding_idx=PAD)
        self.encoder = nn.GRU(d, d, batch_first=True)
        self.decoder = nn.GRU(d, d, batch_first=True)
        self.proj = nn.Linear(d, TGT_VOCAB)

    def shift_right(self, labels):
        shifted = labels.new_zeros(labels.shape)
        shifted[:, 1:] = labels[:, :-1].clone()
        shifted[:, 0] = BOS
        shifted = shifted.masked_fill(shifted == -100, PAD)
        return shifted

    def forward(self, src, labels):
        _, h = self.encoder(self.src_emb(src))
        dec_in = self.shift_right(labels)
        out, _ = self.decoder(self.tgt_emb(dec_in), h)
        return self.proj(out)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Seq2Seq().to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for src, labels in DataLoader(Pairs(), batch_size=8, shuffle=True, collate_fn=collate_fn):
    src, labels = src.to(device), labels.to(device)
    logits = model(src, labels)
    loss = criterion(logits.view(-1, TGT_VOCAB), labels.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
