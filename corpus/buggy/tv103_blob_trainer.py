from types import SimpleNamespace

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

args = SimpleNamespace(
    n_samples=512,
    n_features=20,
    n_classes=8,
    hidden=64,
    batch_size=64,
    epochs=2,
    lr=1e-3,
    seed=0,
)


def make_data(args):
    x = torch.randn(args.n_samples, args.n_features)
    y = torch.randint(1, args.n_classes + 1, (args.n_samples,))
    return TensorDataset(x, y)


class Trainer:
    def __init__(self, model, args):
        self.args = args
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.loader = DataLoader(make_data(args), batch_size=args.batch_size, shuffle=True)

    def training_step(self, batch):
        x, y = (t.to(self.device) for t in batch)
        logits = self.model(x)
        return self.criterion(logits, y)  # warning: TV103

    def fit(self):
        self.model.train()
        for epoch in range(self.args.epochs):
            for batch in self.loader:
                loss = self.training_step(batch)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(args.seed)
    net = nn.Sequential(
        nn.Linear(args.n_features, args.hidden),
        nn.GELU(),
        nn.Linear(args.hidden, args.n_classes),
    )
    Trainer(net, args).fit()
