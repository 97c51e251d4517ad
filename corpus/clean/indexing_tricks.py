import torch
import torch.nn as nn
import torch.nn.functional as F

x = torch.arange(24, dtype=torch.float32).view(2, 3, 4)
print(x[-1][-1][-1], x[1, 2, 3], x[..., -4])
print(x[:, 10:].shape, x[:, :100].shape, x[-2:].shape)

table = torch.eye(5)
picked = table[torch.tensor([0, -1, 4, -5])]
print(picked.argmax(dim=1).tolist())

# an empty list of classes is fine if nothing indexes it
empty = x[x > 1000]
print(empty.numel(), empty.sum().item())

emb = nn.Embedding(6, 3, padding_idx=5)
tokens = torch.tensor([[1, 2, 5, 5], [4, 0, 3, 5]])
lengths = (tokens != emb.padding_idx).sum(dim=1)
states = emb(tokens)
last = states[torch.arange(2), lengths - 1]
same = states.gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, 1, 3)).squeeze(1)
assert torch.equal(last, same)

scores = torch.zeros(2, 6).scatter_(1, tokens, 1.0)
print(scores)

k = min(3, scores.size(1))
values, indices = scores.topk(k, dim=1)
for row in range(scores.size(0)):
    print([int(indices[row][j]) for j in range(k)])

onehot = F.one_hot(torch.tensor([0, 2, 3]))
print(onehot.shape)
perm = torch.randperm(x.size(1))
print(x[:, perm].index_select(2, torch.tensor([3, 0])).shape)
