import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

import constants as C
from dataset import TaggedSentences


class Tagger(nn.Module):
    def __init__(self, d_model=64, nhead=4, num_layers=2):
        super().__init__()
        self.tok = nn.Embedding(C.VOCAB, d_model, padding_idx=C.PAD_TOKEN)
        self.pos = nn.Parameter(torch.zeros(1, C.MAX_LEN, d_model))
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers)
        self.head = nn.Linear(d_model, C.TAGS)

    def forward(self, ids):
        padding = ids == C.PAD_TOKEN
        h = self.encoder(self.tok(ids) + self.pos, src_key_padding_mask=padding)
        return self.head(h)


def run(epochs=2):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Tagger().to(device)
    loader = DataLoader(TaggedSentences(), batch_size=8, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for ids, labels in loader:
            ids = ids.to(device)
            labels = labels.to(device)
            logits = model(ids)
            loss = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=C.IGNORE)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    run()
