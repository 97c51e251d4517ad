"""Predict a decade of age from face embeddings, as a classification problem."""
import torch
import torch.nn as nn

torch.manual_seed(7)

EDGES = torch.tensor([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0])
N_BUCKETS = len(EDGES)


class AgeHead(nn.Module):
    def __init__(self, dim=128, n_buckets=N_BUCKETS):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, n_buckets)

    def forward(self, emb):
        return self.proj(self.norm(emb))


def get_batch(batch_size=256):
    emb = torch.randn(batch_size, 128)
    ages = torch.randint(1, 90, (batch_size,)).float()
    return emb, ages


head = AgeHead()
optimizer = torch.optim.Adam(head.parameters(), lr=3e-4)
loss_function = nn.CrossEntropyLoss()

for it in range(10):
    emb, ages = get_batch()
    bucket = torch.bucketize(ages, EDGES)
    logits = head(emb)
    loss = loss_function(logits, bucket)  # warning: TV103
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 5 == 0:
        print(it, float(loss))
