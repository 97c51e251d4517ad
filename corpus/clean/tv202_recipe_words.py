"""Guess the course of a dish from the words of its recipe."""
from collections import Counter, defaultdict

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

RECIPES = [
    ("boil the pasta add tomato and basil", "main"),
    ("whip the cream and fold in sugar", "dessert"),
    ("chop lettuce and toss with oil", "starter"),
    ("roast the duck with orange", "main"),
]

by_course = defaultdict(list)
counts = Counter()
for text, course in RECIPES:
    words = text.split()
    counts.update(words)
    by_course[course].append(words)

COURSES = list(by_course)
# 0 is for padding
INDEX = {word: place for place, (word, _) in enumerate(counts.most_common(), start=1)}
SIZE = len(INDEX) + 1


class CourseNet(nn.Module):
    def __init__(self, size, courses):
        super().__init__()
        self.words = nn.Embedding(size, 12, padding_idx=0)
        self.out = nn.Linear(12, courses)

    def forward(self, ids):
        vectors = self.words(ids)
        return self.out(vectors.mean(dim=1))


ids = pad_sequence([torch.tensor([INDEX[w] for w in text.split()]) for text, _ in RECIPES], batch_first=True)
courses = torch.tensor([COURSES.index(course) for _, course in RECIPES])
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = CourseNet(SIZE, len(COURSES)).to(device)
optimizer = torch.optim.Adam(model.parameters())
history = defaultdict(list)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(ids.to(device)), courses.to(device))
    loss.backward()
    optimizer.step()
    history["loss"].append(loss.item())
mean = torch.tensor(history["loss"]).mean()
print(f"{mean:.3f}")
