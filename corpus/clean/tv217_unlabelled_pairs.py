"""A contrastive loss that leaves out pairs without labels; flags are compared in parentheses."""
import torch
import torch.nn.functional as F

FIRST, SECOND = 1, 2


def similarity_loss(features, labels):
    features = F.normalize(features, dim=1)
    rows, columns = labels[:, None], labels[None, :]
    unlabelled = (rows == -1) | (columns == -1)
    same = (rows == columns) & ~unlabelled
    scores = features @ features.T
    return F.binary_cross_entropy_with_logits(scores, same.float())


def main(flags=FIRST):
    torch.manual_seed(0)
    features = torch.randn(12, 8, requires_grad=True)
    labels = torch.randint(-1, 3, (12,))
    if 0 < (flags & SECOND) < 4 or flags & FIRST == FIRST:
        loss = similarity_loss(features, labels)
        loss.backward()
        print(loss.item())


main()
