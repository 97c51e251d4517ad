import torch
import torch.nn as nn
import torch.nn.functional as F


class HeartModel(nn.Module):
    def __init__(self, features=13):
        super().__init__()
        self.fc1 = nn.Linear(features, 32)
        self.fc2 = nn.Linear(32, 16)
        self.fc3 = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


torch.manual_seed(0)
patients = torch.randn(240, 13)
disease = (patients.sum(dim=1) > 0).float().view(-1, 1)

model = HeartModel()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(1, 21):
    optimizer.zero_grad()
    y_pred = model(patients)
    loss = criterion(y_pred, disease)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        acc = ((y_pred > 0).float() == disease).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.4f} acc {acc.item():.3f}")
