import torch
import torch.nn as nn
import torch.nn.functional as F

# A shard of counted words without any rows: most norms return an empty input before they look at
# its dtype.
counts = torch.zeros(0, 3, 4, dtype=torch.int64)
print(F.batch_norm(counts, torch.zeros(3), torch.ones(3)).shape)
print(F.batch_norm(counts, None, None, torch.ones(3), torch.zeros(3), training=True).dtype)
print(nn.BatchNorm1d(3)(counts).dtype)
print(F.instance_norm(counts).dtype)
print(F.group_norm(counts, 1).dtype)
