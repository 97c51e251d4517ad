"""Are the cells of a frame in a beehive empty, or is there honey, pollen or brood? Most of them are empty."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

CONTENTS = ["empty", "honey", "pollen", "brood"]
COUNTS = torch.tensor([700.0, 180.0, 80.0, 40.0])


def photograph(cells):
    contents = torch.multinomial(COUNTS, cells, replacement=True)
    colours = torch.tensor([[0.3, 0.2, 0.1], [0.9, 0.6, 0.1], [0.8, 0.7, 0.5], [0.9, 0.9, 0.8]])
    photos = colours[contents][:, :, None, None] + 0.3 * torch.randn(cells, 3, 12, 12)
    return TensorDataset(photos.clamp(0, 1), contents)


class FocalLoss(nn.Module):
    """Focal loss with a weight for each class. The attribute only changes its device."""

    def __init__(self, alpha, gamma=2.0):
        super(FocalLoss, self).__init__()
        self.alpha = alpha
        self.gamma = gamma

    def forward(self, inputs, targets):
        log_p = F.log_softmax(inputs, dim=1)
        log_pt = log_p.gather(1, targets.unsqueeze(1)).squeeze(1)
        self.alpha = self.alpha.to(inputs.device)
        alpha = self.alpha.gather(0, targets)
        loss = -alpha * (1 - log_pt.exp()) ** self.gamma * log_pt
        return loss.mean()


class MarginLoss(nn.Module):
    """Cross-entropy after a margin is subtracted: rare classes have larger margins (LDAM, 2019)."""

    def __init__(self, counts, largest=0.5):
        super(MarginLoss, self).__init__()
        margins = counts ** -0.25
        self.register_buffer("margins", margins * largest / margins.max())
        self.recent = torch.zeros(0)

    def forward(self, logits, labels):
        # Another attribute, whose value the program reads after the call.
        self.margins_of_batch = self.margins[labels]
        shift = F.one_hot(labels, len(CONTENTS)) * self.margins_of_batch.unsqueeze(1)
        losses = F.cross_entropy(logits - shift, labels, reduction="none")
        self.recent = torch.cat([self.recent, losses.detach()])
        self.recent = self.recent[-200:]
        return losses.mean()

    def keep_classes(self, kept):
        """For a frame without brood: called once, on purpose."""
        self.margins = self.margins[kept]


class PriorLoss(nn.Module):
    """Logits that are shifted by the logarithm of the shares: it gets the axis of the batch once."""

    def __init__(self, counts):
        super(PriorLoss, self).__init__()
        self.prior = (counts / counts.sum()).log()

    def forward(self, logits, labels):
        if self.prior.ndim == 1:
            self.prior = self.prior.unsqueeze(0)
        return F.cross_entropy(logits + self.prior, labels)


class CellNet(nn.Module):
    def __init__(self):
        super(CellNet, self).__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16, len(CONTENTS))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


class Inspection(nn.Module):
    """Doubtful cells of one frame: each call keeps some of them, until `restart`."""

    def __init__(self, cells):
        super(Inspection, self).__init__()
        self.cells = cells
        self.restart()

    def restart(self):
        self.left = torch.arange(self.cells)

    def forward(self, keep):
        self.left = self.left[keep]
        return self.left


class Visits(nn.Module):
    """Each call takes the next cells, and leaves the others for later calls."""

    def __init__(self, cells):
        super(Visits, self).__init__()
        self.waiting = torch.randperm(cells)

    def forward(self, number):
        visited = self.waiting[:number]
        self.waiting = self.waiting[number:]
        return visited


def train(model, criterion, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        model.train()
        for photos, contents in loader:
            optimizer.zero_grad()
            loss = criterion(model(photos), contents)
            loss.backward()
            optimizer.step()
        print(type(criterion).__name__, epoch, round(loss.item(), 4))


def recall_of_classes(model, loader):
    model.eval()
    right, all_cells = torch.zeros(len(CONTENTS)), torch.zeros(len(CONTENTS))
    with torch.no_grad():
        for photos, contents in loader:
            found = model(photos).argmax(dim=1)
            all_cells += torch.bincount(contents, minlength=len(CONTENTS))
            right += torch.bincount(contents[found == contents], minlength=len(CONTENTS))
    return dict(zip(CONTENTS, (right / all_cells.clamp(min=1)).tolist()))


def main():
    torch.manual_seed(0)
    train_set, test_set = random_split(photograph(800), [640, 160])
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=80)
    for criterion in (FocalLoss(alpha=COUNTS.sum() / COUNTS / 4), MarginLoss(COUNTS), PriorLoss(COUNTS)):
        model = CellNet()
        train(model, criterion, train_loader, epochs=3)
        print(recall_of_classes(model, test_loader))
    margin_loss = MarginLoss(COUNTS)
    margin_loss.keep_classes(torch.tensor([0, 1, 2]))
    print(margin_loss.margins)
    inspection = Inspection(80)
    photos, contents = next(iter(test_loader))
    with torch.no_grad():
        doubtful = model(photos).softmax(dim=1).amax(dim=1) < 0.9
    visits = Visits(80)
    first = visits(10)
    print(len(first), len(visits(60)), len(visits.waiting))
    print(len(inspection(doubtful)), len(inspection(contents[doubtful] > 0)))


if __name__ == "__main__":
    main()
