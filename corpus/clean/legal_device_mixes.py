"""All mixes of devices that PyTorch takes: each line is legal with `device` being a GPU."""
import io

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(4, 6, device=device)
number = torch.tensor(0.5)
there = torch.tensor(2.0, device=device)

# A 0-d tensor counts as a number, on either side of the operator.
for mixed in (
    x + number,
    number - x,
    x * number,
    x / number,
    x.abs() ** number,
    x == number,
    x < number,
    torch.maximum(x, number),
    torch.minimum(number, x),
    torch.lerp(x, x + 1, number),
    torch.where(x > 0, x, number),
    torch.where(x > 0, number, x),
    torch.where(torch.tensor(True), x, x + 1),
    x.masked_fill(x > 0, number),
    x.index_fill(0, torch.tensor([0, 2], device=device), number),
    F.binary_cross_entropy_with_logits(x, torch.ones_like(x), pos_weight=number),
    x * 3.0,
    x + np.float32(2.0),
    x * np.int64(2),
):
    assert mixed.device.type == device.type

# Two 0-d tensors on two devices: the result is on the GPU.
total = torch.zeros(())
for _ in range(3):
    total = total + (x * there).mean()
assert total.device.type == device.type
both = number * there

# Indices and masks on the CPU may index a tensor on the GPU.
rows = torch.tensor([0, 3, 1])
picked = x[rows]
picked = x[rows, torch.tensor([1, 2, 0], device=device)]
picked = x[torch.tensor([True, False, True, True])]
picked = x[[0, 2]], x[np.array([1, 3])], x[:, rows.tolist()]
# Only a 0-d index on the GPU may index a tensor on the CPU.
table = torch.randn(5, 3)
row = table[torch.tensor(2, device=device)]

# Assignment copies.
x[0] = torch.zeros(6)
x[1:3] = torch.ones(2, 6)
x[rows] = torch.tensor(1.0)
x[rows] = torch.tensor([2.0])
x[x > 1] = 0.0
buffer = torch.empty(4, 6)
buffer.copy_(x)
host = x.to("cpu")
back = host.to(device)
listed = torch.tensor([there, there + 1])
assert listed.device.type == "cpu"

# Split points, sequence lengths and CTC targets may be on the CPU.
parts = torch.tensor_split(x, torch.tensor([1, 3]))
lstm = nn.LSTM(6, 8, batch_first=True).to(device)
sequences = torch.randn(3, 5, 6, device=device)
packed = pack_padded_sequence(sequences, torch.tensor([5, 4, 2]), batch_first=True)
hidden, _ = lstm(packed)
log_probs = torch.randn(10, 2, 5, device=device).log_softmax(2)
ctc = F.ctc_loss(log_probs, torch.tensor([[1, 2], [3, 4]]), torch.tensor([10, 9]), torch.tensor([2, 2]))

# A gradient returns to the device of its leaf.
leaf = torch.randn(3, requires_grad=True)
(leaf.to(device) * 2).sum().backward()
assert leaf.grad.device.type == "cpu"

# `load_state_dict` copies to the device of the model.
model = nn.Linear(6, 2).to(device)
model.load_state_dict(nn.Linear(6, 2).state_dict())
stored = io.BytesIO()
torch.save(model.state_dict(), stored)
stored.seek(0)
model.load_state_dict(torch.load(stored, map_location="cpu"))

# Python accepts a 0-d integer tensor on the GPU as an index or a count.
steps = [step for step in range(torch.tensor(3, device=device))]
chosen = [10, 20, 30][torch.tensor(1, device=device)]
print(both.item(), row.shape, [part.shape for part in parts], hidden.data.shape, ctc.item(), steps, chosen, back.shape)
