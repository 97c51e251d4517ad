import torch
from models import Counter

try:
    model = Counter(8)
    model.load_state_dict(torch.load("counter.pt", map_location="cpu"))
except FileNotFoundError:
    print("no checkpoint yet")

small = Counter(4)
print(small(torch.rand(3, 8)))
