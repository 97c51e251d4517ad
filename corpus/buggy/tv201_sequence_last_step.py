import torch
from torch import nn

SEQ_LEN = 30


class GRUForecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(input_size=4, hidden_size=20, batch_first=True)
        self.head = nn.Linear(20, 1)

    def forward(self, x):
        states, _ = self.gru(x)
        last = states[:, SEQ_LEN, :]  # error: TV201
        return self.head(last).squeeze(-1)


model = GRUForecaster()
loss_fn = nn.HuberLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for step in range(5):
    x = torch.randn(16, SEQ_LEN, 4)
    y = x[:, :, 0].mean(dim=1)
    loss = loss_fn(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
