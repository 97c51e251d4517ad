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
        score = score.masked_fill(~bonded, torch.finfo(score.dtype).min)
        score = score.masked_fill(self.self_loops, float("-inf")).float().masked_fill(~bonded, -1e9)
        return score.softmax(dim=-1) @ atoms


torch.manual_seed(0)
model = AtomAttention().to(device)
atoms = torch.randn(4, ATOMS, WIDTH, device=device)
bonded = torch.rand(4, ATOMS, ATOMS, device=device) < 0.4
with torch.autocast(device, dtype=torch.float16):
    print(model(atoms, bonded).shape)
with torch.autocast(device, dtype=torch.bfloat16):
    print((atoms @ atoms.transpose(1, 2)).masked_fill(~bonded, -1e9).dtype)
half = torch.zeros(4, dtype=torch.float16)
half[half == 0] = float("inf")
print(torch.where(half > 1, half, -1e9), half + -1e9, torch.full((2,), 65504.0, dtype=torch.float16))
