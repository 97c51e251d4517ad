import torch
import torch.nn as nn

torch.manual_seed(0)
CLASS_NAMES = ["cat", "dog", "rabbit"]


def confusion_matrix(pred, target, n):
    cm = torch.zeros(n, n, dtype=torch.long)
    for t, p in zip(target.tolist(), pred.tolist()):
        cm[t, p] += 1
    return cm


def report():
    model = nn.Linear(16, len(CLASS_NAMES))
    x = torch.randn(60, 16)
    y = torch.arange(60) % 3
    with torch.no_grad():
        pred = model(x).argmax(dim=1)
    cm = confusion_matrix(pred, y, 3)
    print(cm)
    print("cats taken for dogs:", cm[0, 1].item())
    print("dogs taken for rabbits:", cm[2, 3].item())  # error: TV201
    recall = cm.diag().float() / cm.sum(dim=1).clamp(min=1)
    for name, r in zip(CLASS_NAMES, recall):
        print(f"{name}: recall {r.item():.2f}")


if __name__ == "__main__":
    report()
