"""Sentence encoder with a causal mask that is built on the fly."""
import torch
import torch.nn as nn


class SentenceEncoder(nn.Module):
    def __init__(self, vocab_size=200, d_model=32, n_classes=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(64, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.fc = nn.Linear(d_model, n_classes)

    def forward(self, ids):
        batch, length = ids.shape
        pos = torch.arange(length, device=ids.device).unsqueeze(0)
        h = self.tokens(ids) + self.positions(pos)
        return self.fc(self.norm(h).mean(dim=1))


def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = SentenceEncoder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(3):
        ids = torch.randint(0, 200, (16, 20)).to(device)
        labels = torch.randint(0, 2, (16,)).to(device)
        loss = criterion(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
