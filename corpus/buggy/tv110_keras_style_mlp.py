import torch
import torch.nn as nn

torch.manual_seed(0)

model = nn.Sequential(
    nn.Flatten(),
    nn.Linear(8 * 8, 128),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(128, 10),
    nn.Softmax(dim=1),
)

X = torch.rand(300, 8, 8)
Y = torch.arange(300) % 10

loss_fn = torch.nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters())


def compile_and_fit(model, X, Y, epochs=3, batch_size=50):
    history = {"loss": []}
    for epoch in range(epochs):
        model.train()
        for i in range(0, len(X), batch_size):
            x, y = X[i : i + batch_size], Y[i : i + batch_size]
            y_hat = model(x)
            loss = loss_fn(y_hat, y)  # error: TV110
            opt.zero_grad()
            loss.backward()
            opt.step()
        history["loss"].append(loss.item())
    return history


print(compile_and_fit(model, X, Y))
