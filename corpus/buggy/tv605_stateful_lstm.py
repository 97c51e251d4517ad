import torch
import torch.nn as nn

torch.manual_seed(0)
lstm = nn.LSTM(3, 8, batch_first=True)
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
series = torch.randn(2, 60, 3)
state = None
for start in range(0, 60, 20):
    chunk = series[:, start : start + 20]
    out, state = lstm(chunk, state)
    loss = head(out).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # error: TV605
    optimizer.step()
    print(start, loss.item())
