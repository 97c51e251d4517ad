import copy
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

# The settings of a program keep their values.
min_score = 0.0
loss_weight = 0.0
BEST_LOSS = 0.0


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best_loss = None
        self.best_acc = 0.0
        self.bad_epochs = 0

    def should_stop(self, loss):
        if self.best_loss is None or loss < self.best_loss:
            self.best_loss = loss
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience

    def is_new_best(self, acc):
        # The program assigns `best_acc`.
        if acc > self.best_acc:
            return True
        return False


class BaseTracker:
    def __init__(self):
        self.best_score = None

    # A derived class in another file updates the attribute.
    def has_score(self):
        if self.best_score is None:
            return False
        return True


class Plateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
    def __init__(self, optimizer):
        super().__init__(optimizer)
        self.best = float("inf")

    # `step` of the base class updates the attribute.
    def is_good(self):
        if self.best < 0.5:
            return True
        return False


best_step_loss = math.inf


def keep_step(loss):
    global best_step_loss
    if loss < best_step_loss:
        best_step_loss = loss


def evaluate(model, x, y):
    best_score = 0.0

    def update(score):
        nonlocal best_score
        best_score = max(best_score, score)

    for start in range(0, len(x), 20):
        score = (model(x[start : start + 20]).argmax(dim=1) == y[start : start + 20]).float().mean().item()
        update(score)
        if score < min_score:
            break
        print(f"best score so far: {best_score:.2f}")
    return best_score


def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stopping = EarlyStopping(3)
    best_acc, best_weights = 0.0, None
    (train_acc, train_loss) = 0.0, 0.0
    val_loss = 0.0
    val_acc = None
    first_loss = None
    for epoch in range(epochs):
        losses = []
        correct = 0
        for x, y in loader:
            optimizer.zero_grad()
            out = model(x)
            loss = nn.functional.cross_entropy(out, y) * (1 + loss_weight)
            loss.backward()
            optimizer.step()
            keep_step(loss.item())
            losses.append(loss.item())
            correct += (out.argmax(dim=1) == y).sum().item()
        train_loss, train_acc = sum(losses) / len(losses), correct / len(loader.dataset)
        # val_loss = validate(model)
        print(f"epoch {epoch}: loss {train_loss:.3f}, accuracy {train_acc:.3f}, validation {val_loss:.3f}")
        if first_loss is None:
            first_loss = train_loss
        if epoch % 2 == 0:
            for val_acc in (train_acc, train_acc / 2):
                print("accuracy", val_acc)
        if best_acc < train_acc:
            best_acc = train_acc
            best_weights = copy.deepcopy(model.state_dict())
        if stopping.is_new_best(train_acc):
            stopping.best_acc = train_acc
        if stopping.should_stop(train_loss) or BEST_LOSS > train_loss:
            break
    return best_weights


torch.manual_seed(0)
calls, kinds = torch.randn(60, 6), torch.randint(3, (60,))
classifier = nn.Linear(6, 3)
weights = train(classifier, DataLoader(TensorDataset(calls, kinds), batch_size=10, shuffle=True), 3)
score = 0
for attempt in range(2):
    with torch.no_grad():
        print(evaluate(classifier, calls, kinds), (score := attempt))
    print("score", score)
plateau = Plateau(torch.optim.SGD(classifier.parameters(), lr=0.1))
plateau.step(0.4)
print(plateau.is_good(), weights is not None, BaseTracker().has_score(), best_step_loss)
