import torch
import torch.nn as nn

torch.manual_seed(0)

criterion = nn.CrossEntropyLoss()

# a batch of four predictions over three classes
logits = torch.tensor(
    [
        [2.0, 0.5, 0.1],
        [0.2, 1.9, 0.3],
        [0.1, 0.4, 2.2],
        [1.1, 0.2, 0.7],
    ],
    requires_grad=True,
)
print("logits:", logits.shape)

targets = torch.tensor([0, 1, 2, 2])
print("targets:", targets)

loss = criterion(logits, targets)
loss.backward()

print("loss:", loss.item())
print("grad:", logits.grad)

probs = torch.softmax(logits.detach(), dim=1)
print("most likely:", probs.argmax(dim=1).tolist())
print("confidence:", probs.max(dim=1).values)
