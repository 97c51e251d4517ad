"""Toy translation with nn.Transformer."""
import torch
import torch.nn as nn

SRC, TGT, PAD, D = 40, 50, 0, 32
torch.manual_seed(0)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.src = nn.Embedding(SRC, D, padding_idx=PAD)
        self.tgt = nn.Embedding(TGT, D, padding_idx=PAD)
        self.core = nn.Transformer(D, 4, 1, 1, 64, batch_first=True)
        self.generator = nn.Linear(D, TGT)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.generator(self.core(self.src(src), self.tgt(tgt), tgt_mask=mask))


model = Translator()
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

for step in range(3):
    src = torch.randint(1, SRC, (8, 12))
    tgt = torch.randint(1, TGT, (8, 15))
    logits = model(src, tgt[:, :-1])
    loss = criterion(logits.reshape(-1, TGT), tgt.reshape(-1))  # error: TV104
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
