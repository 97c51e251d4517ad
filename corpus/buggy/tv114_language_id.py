import torch
import torch.nn as nn

LANGS = ["en", "de", "fr", "es"]
ALPHABET = "abcdefghijklmnopqrstuvwxyzäöüßéèçñ "

words = [("house", "en"), ("straße", "de"), ("garçon", "fr"), ("niño", "es"), ("tree", "en"), ("über", "de")]


def to_tensor(word):
    t = torch.zeros(len(word), 1, len(ALPHABET))
    for i, c in enumerate(word):
        t[i][0][ALPHABET.find(c)] = 1
    return t


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, line):
        hidden = torch.zeros(1, self.hidden_size)
        for i in range(line.size(0)):
            hidden = torch.tanh(self.i2h(torch.cat((line[i], hidden), 1)))
        return self.softmax(self.i2o(hidden))


torch.manual_seed(0)
rnn = RNN(len(ALPHABET), 32, len(LANGS))
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.05)

for epoch in range(5):
    total = 0.0
    for word, lang in words:
        category = torch.tensor([LANGS.index(lang)], dtype=torch.long)
        optimizer.zero_grad()
        output = rnn(to_tensor(word))
        loss = criterion(output, category)  # error: TV114
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(words))
