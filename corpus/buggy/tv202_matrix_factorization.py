import torch
import torch.nn as nn

ratings = [
    # user, item, rating
    (0, 0, 5.0), (0, 2, 3.0), (1, 1, 4.0), (2, 3, 1.0),
    (3, 0, 4.5), (3, 4, 2.0), (4, 2, 5.0), (5, 1, 3.5),
]

users = torch.tensor([r[0] for r in ratings])
items = torch.tensor([r[1] for r in ratings])
stars = torch.tensor([r[2] for r in ratings])

n_users = max(r[0] for r in ratings)
n_items = max(r[1] for r in ratings)


class MF(nn.Module):
    def __init__(self, n_users, n_items, k=4):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, k)
        self.item_factors = nn.Embedding(n_items, k)

    def forward(self, u, i):
        p = self.user_factors(u)  # error: TV202
        q = self.item_factors(i)  # error: TV202
        return (p * q).sum(dim=1)


model = MF(n_users, n_items)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(20):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(users, items), stars)
    loss.backward()
    opt.step()
print("rmse", loss.sqrt().item())
