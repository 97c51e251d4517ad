"""One body, one head per task."""
import torch
import torch.nn as nn

TASKS = {"gender": 2, "age": 8, "mood": 5}


class MultiTask(nn.Module):
    def __init__(self, tasks, dim=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(40, dim), nn.ReLU())
        self.heads = {name: nn.Linear(dim, n) for name, n in tasks.items()}  # error: TV304

    def forward(self, x):
        h = self.body(x)
        return {name: head(h) for name, head in self.heads.items()}


def main():
    torch.manual_seed(0)
    model = MultiTask(TASKS)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(10):
        x = torch.randn(24, 40)
        labels = {name: torch.randint(0, n, (24,)) for name, n in TASKS.items()}
        outputs = model(x)
        loss = sum(criterion(outputs[name], labels[name]) for name in TASKS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
