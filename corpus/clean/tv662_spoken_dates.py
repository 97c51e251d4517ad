"""A small transformer that turns spoken dates ("the fourth of may") into digits ("04.05.")."""
import random

import torch
from torch import nn

MONTHS = ["january", "february", "march", "april", "may", "june", "july"]
DAYS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
PAD, BEGIN, END = 0, 1, 2
LETTERS = {letter: 3 + i for i, letter in enumerate("abcdefghijklmnopqrstuvwxyz 0123456789.")}


def encode(text):
    return [BEGIN] + [LETTERS[letter] for letter in text] + [END]


def make_batch(size):
    spoken, written = [], []
    for _ in range(size):
        day, month = random.randrange(len(DAYS)), random.randrange(len(MONTHS))
        spoken.append(torch.tensor(encode(f"the {DAYS[day]} of {MONTHS[month]}")))
        written.append(torch.tensor(encode(f"{day + 1:02}.{month + 1:02}.")))
    pad = nn.utils.rnn.pad_sequence
    return pad(spoken, batch_first=True, padding_value=PAD), pad(written, batch_first=True, padding_value=PAD)


class DateTransformer(nn.Module):
    def __init__(self, width=32, longest=40):
        super().__init__()
        self.letters = nn.Embedding(3 + len(LETTERS), width, padding_idx=PAD)
        self.places = nn.Embedding(longest, width)
        self.core = nn.Transformer(width, 4, 1, 1, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, 3 + len(LETTERS))

    def embed(self, tokens):
        return self.letters(tokens) + self.places(torch.arange(tokens.shape[1]))

    def forward(self, spoken, written):
        length = written.shape[1]
        future = torch.ones(length, length).triu(diagonal=1).bool()
        hidden = self.core(
            self.embed(spoken), self.embed(written), tgt_mask=future,
            src_key_padding_mask=spoken == PAD, memory_key_padding_mask=spoken == PAD,
        )
        return self.head(hidden)


def train_step(model, batch, criterion, optimizer):
    model.train()
    src, tgt = batch
    logits = model(src, tgt[:, :-1])
    loss = criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def write(model, text):
    model.eval()
    tokens = [BEGIN]
    while len(tokens) < 10 and tokens[-1] != END:
        logits = model(torch.tensor([encode(text)]), torch.tensor([tokens]))
        tokens.append(logits[0, -1].argmax().item())
    names = {number: letter for letter, number in LETTERS.items()}
    return "".join(names.get(token, "") for token in tokens)


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    model = DateTransformer()
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(150):
        loss = train_step(model, make_batch(16), criterion, optimizer)
        if step % 50 == 49:
            print(step, loss, write(model, "the fourth of may"))
