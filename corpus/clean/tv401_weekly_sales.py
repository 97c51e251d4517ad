import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

WEEKS = 52
FEATURES = 20
BATCH = 64


class Forecaster(nn.Module):
    def __init__(self, n_features, hidden_dim=16, layers=1):
        super().__init__()
        self.inp = nn.Linear(n_features, hidden_dim * 2)
        self.pos = nn.Parameter(torch.zeros(1, WEEKS, hidden_dim * 2))
        self.transformer = nn.Transformer(
            hidden_dim * 2, 4, num_encoder_layers=layers, num_decoder_layers=layers,
            dim_feedforward=64, batch_first=True)
        self.out = nn.Linear(hidden_dim * 2, 1)

    def forward(self, x):
        # x: batch, weeks, features
        attention_mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        x = self.inp(x) + self.pos[:, :x.shape[1]]
        output = self.transformer(x, x, src_mask=attention_mask, tgt_mask=attention_mask)
        return self.out(output).squeeze(-1)


def make_sales(n):
    rng = np.random.default_rng(8)
    t = np.arange(WEEKS + 1)
    base = np.sin(2 * np.pi * (t[None] / 52 + rng.random((n, 1)))) + 0.02 * t[None]
    noise = rng.normal(0, 0.1, (n, WEEKS + 1))
    series = (base + noise).astype(np.float32)
    x = np.repeat(series[:, :-1, None], FEATURES, axis=2)
    x[:, :, 1:] += rng.normal(0, 0.5, x[:, :, 1:].shape)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(series[:, 1:])


def run():
    torch.manual_seed(0)
    x, y = make_sales(3 * BATCH)
    train_loader = DataLoader(TensorDataset(x[:2 * BATCH], y[:2 * BATCH]), batch_size=BATCH, shuffle=True)
    valid_loader = DataLoader(TensorDataset(x[2 * BATCH:], y[2 * BATCH:]), batch_size=BATCH)

    model = Forecaster(FEATURES).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.L1Loss()

    for epoch in range(3):
        model.train()
        for xb, yb in train_loader:
            xb, yb = xb.to(device), yb.to(device)
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()

        model.eval()
        errors = []
        with torch.no_grad():
            for xb, yb in valid_loader:
                errors.append(criterion(model(xb.to(device)), yb.to(device)).item())
        print('epoch %d train %.4f valid %.4f' % (epoch, loss.item(), np.mean(errors)))


if __name__ == '__main__':
    run()
