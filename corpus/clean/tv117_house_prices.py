import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

n_samples, n_features = 500, 8
X = torch.randn(n_samples, n_features)
true_w = torch.tensor([3.0, -1.5, 0.0, 2.0, 0.5, 0.0, 1.0, -2.0])
price = X @ true_w + 0.1 * torch.randn(n_samples)

loader = DataLoader(TensorDataset(X, price), batch_size=50, shuffle=True)

model = nn.Sequential(
    nn.Linear(n_features, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
)
mse = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(5):
    epoch_loss = 0
    for xb, yb in loader:
        pred = model(xb)
        loss = mse(pred.squeeze(-1), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(xb)
    print(f"epoch {epoch}: mse {epoch_loss / n_samples:.3f}")
