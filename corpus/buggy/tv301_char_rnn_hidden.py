# needs: cuda
import torch
import torch.nn as nn


class CharRNN(nn.Module):
    def __init__(self, n_chars, hidden_size=64, n_layers=2):
        super().__init__()
        self.hidden_size = hidden_size
        self.n_layers = n_layers
        self.embed = nn.Embedding(n_chars, 32)
        self.gru = nn.GRU(32, hidden_size, n_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, n_chars)

    def init_hidden(self, batch_size):
        return torch.zeros(self.n_layers, batch_size, self.hidden_size)

    def forward(self, x, hidden):
        out, hidden = self.gru(self.embed(x), hidden)  # error: TV301
        return self.fc(out), hidden


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    text = "in the beginning was the word " * 20
    chars = sorted(set(text))
    ids = torch.tensor([chars.index(c) for c in text]).to(device)
    model = CharRNN(len(chars)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss()
    seq = ids[:320].view(8, 40)
    for epoch in range(3):
        hidden = model.init_hidden(seq.size(0))
        logits, hidden = model(seq[:, :-1], hidden)
        loss = loss_fn(logits.reshape(-1, len(chars)), seq[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
