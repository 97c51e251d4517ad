import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
centers = np.array([[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 0.0, 1.0], [-2.0, 1.0, 2.0, 0.0]])
labels = np.repeat(np.arange(3), 50)
features = centers[labels] + rng.normal(scale=0.4, size=(150, 4))

# shuffle and split
order = rng.permutation(150)
features, labels = features[order], labels[order]
X_train = torch.tensor(features[:120], dtype=torch.float32)
X_test = torch.tensor(features[120:], dtype=torch.float32)
y_train = torch.tensor(labels[:120], dtype=torch.long)
y_test = torch.tensor(labels[120:])

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

num_epochs = 50
for epoch in range(num_epochs):
    optimizer.zero_grad()
    outputs = model(X_train)
    loss = criterion(outputs, y_train)
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 10 == 0:
        print(f"Epoch [{epoch + 1}/{num_epochs}], Loss: {loss.item():.4f}")

with torch.no_grad():
    predicted = torch.argmax(model(X_test), dim=1)
    accuracy = (predicted == y_test).float().mean()
print(f"Test accuracy: {accuracy:.3f}")
