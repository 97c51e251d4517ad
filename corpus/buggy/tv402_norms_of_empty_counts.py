import torch
import torch.nn.functional as F

rows = torch.ones(5, 3, 4, dtype=torch.int64)
frequent = rows[rows.sum(dim=(1, 2)) > 100]
# This line does not raise, but only because no row is frequent.
print(F.batch_norm(frequent, torch.zeros(3), torch.ones(3)).shape)  # warning: TV402

# The layer norm checks the dtype of an empty input, too.
counts = torch.zeros(0, 3, 4, dtype=torch.int64)
print(F.layer_norm(counts, (4,)))  # error: TV402
