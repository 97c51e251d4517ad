"""Attention over the atoms of a molecule, in half precision."""
import torch
import torch.nn as nn

ATOMS, WIDTH = 12, 32
device = "cuda" if torch.cuda.is_available() else "cpu"


class AtomAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("self_loops", torch.eye(ATOMS, dtype=torch.bool))

    def forward(self, atoms, bonded):
        score = self.query(atoms) @ self.key(atoms).transpose(1, 2)
        score.masked_fill_(self.self_loops, -1e4)
        score = score.masked_fill(~bonded, -1e6)  # error: TV405
        return score.softmax(dim=-1) @ atoms


torch.manual_seed(0)
model = AtomAttention().to(device)
atoms = torch.randn(4, ATOMS, WIDTH, device=device)
bonded = torch.rand(4, ATOMS, ATOMS, device=device) < 0.4
with torch.autocast(device, dtype=torch.float16):
    print(model(atoms, bonded).shape)
