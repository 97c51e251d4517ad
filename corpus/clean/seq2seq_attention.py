import random

import torch
import torch.nn as nn

SRC_VOCAB, TGT_VOCAB, PAD = 30, 35, 0


class Encoder(nn.Module):
    def __init__(self, emb=16, hid=32):
        super().__init__()
        self.embedding = nn.Embedding(SRC_VOCAB, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid)

    def forward(self, src):
        return self.rnn(self.embedding(src))


class Decoder(nn.Module):
    def __init__(self, emb=16, hid=32):
        super().__init__()
        self.embedding = nn.Embedding(TGT_VOCAB, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb + hid, hid)
        self.out = nn.Linear(hid, TGT_VOCAB)

    def forward(self, token, hidden, memory):
        e = self.embedding(token.unsqueeze(0))
        scores = torch.einsum("bh,sbh->bs", hidden[0], memory)
        weights = torch.softmax(scores, dim=1)
        context = torch.bmm(weights.unsqueeze(1), memory.transpose(0, 1)).transpose(0, 1)
        output, hidden = self.rnn(torch.cat([e, context], dim=2), hidden)
        return self.out(output.squeeze(0)), hidden


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()

    def forward(self, src, trg, teacher_forcing=0.5):
        memory, hidden = self.encoder(src)
        outputs = torch.zeros(trg.size(0), trg.size(1), TGT_VOCAB, device=src.device)
        token = trg[0]
        for t in range(1, trg.size(0)):
            logits, hidden = self.decoder(token, hidden, memory)
            outputs[t] = logits
            token = trg[t] if random.random() < teacher_forcing else logits.argmax(1)
        return outputs


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Seq2Seq().to(device)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    src = torch.randint(1, SRC_VOCAB, (7, 4), device=device)
    trg = torch.randint(1, TGT_VOCAB, (9, 4), device=device)
    trg[-2:, 1] = PAD
    out = model(src, trg)
    loss = criterion(out[1:].view(-1, TGT_VOCAB), trg[1:].view(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    print(step, loss.item())
