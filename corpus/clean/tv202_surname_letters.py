"""Char-level names classifier; all_letters one-hot, then replaced by an embedding."""
import random
import string
import torch
import torch.nn as nn

all_letters = string.ascii_letters
all_letters = string.ascii_letters + " .,;'"
n_letters = len(all_letters)
names = {"Irish": ["O'Brien", "Kelly"], "Scottish": ["Ross", "Smith"], "Dutch": ["de Vries", "Bakker"]}
all_categories = list(names.keys())


def letter_to_index(letter):
    return all_letters.find(letter)


def line_to_tensor(line):
    return torch.tensor([letter_to_index(c) for c in line], dtype=torch.long)


class CharRNN(nn.Module):
    def __init__(self, n_letters, hidden_size, n_categories):
        super().__init__()
        self.embed = nn.Embedding(n_letters, 16)
        self.rnn = nn.RNN(16, hidden_size)
        self.h2o = nn.Linear(hidden_size, n_categories)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, line):
        emb = self.embed(line).unsqueeze(1)
        _, hidden = self.rnn(emb)
        return self.softmax(self.h2o(hidden[0]))


data = []
for category, lines in names.items():
    for line in lines:
        data.append((all_categories.index(category), line_to_tensor(line)))

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rnn = CharRNN(n_letters, 32, len(all_categories)).to(device)
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.01)
for it in range(20):
    cat, line = data[it % len(data)]
    target = torch.tensor([cat], dtype=torch.long, device=device)
    optimizer.zero_grad()
    output = rnn(line.to(device))
    loss = criterion(output, target)
    loss.backward()
    optimizer.step()
