import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PRIORITIES = ["low", "normal", "high"]


def balanced_weights(y, n_classes):
    counts = np.bincount(y, minlength=n_classes)
    return len(y) / (n_classes * counts)


def load_tickets():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((200, 30)).astype(np.float32)
    y = np.array([0] * 120 + [1] * 60 + [2] * 20)
    return x, y


x, y = load_tickets()
weights = torch.from_numpy(balanced_weights(y, len(PRIORITIES))).float()
print("class weights:", weights)

model = nn.Sequential(
    nn.Linear(30, 64),
    nn.BatchNorm1d(64),
    nn.ReLU(),
    nn.Linear(64, len(PRIORITIES)),
)
criterion = nn.CrossEntropyLoss(weight=weights)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=40, shuffle=True)

for epoch in range(3):
    for features, priority in loader:
        optimizer.zero_grad()
        logits = model(features)
        loss = criterion(logits, priority)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} {loss.item():.4f}")
